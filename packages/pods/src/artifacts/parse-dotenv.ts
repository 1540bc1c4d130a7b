import { gunzipSync } from "node:zlib";
import { HttpError } from "../http/http-error.ts";
import type { ReceivedFile } from "./receive-file.ts";

const MAX_BYTES = 64 * 1024;
const MAX_VARIABLES = 150;

/**
 * Reads the variables of a `dotenv` report as GitLab does: `NAME=VALUE` a line, the value as it stands; blank lines and comments
 * are passed over.
 *
 * @throws {HttpError} 400 for a report that is too large or malformed
 */
export function parseDotenv(
  { head, size }: Pick<ReceivedFile, "head" | "size">,
  format: string,
): Readonly<Record<string, string>> {
  if (size > MAX_BYTES) throw new HttpError(400, `400 Bad Request: a dotenv report has at most ${MAX_BYTES} bytes`);
  const text = unpacked(head, format).toString();
  const variables: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const { key, value } = /^\s*(?:export\s+)?(?<key>[A-Za-z0-9_]+)\s*=(?<value>.*)$/.exec(line)?.groups ?? {};
    if (key === undefined || value === undefined) throw new HttpError(400, "400 Bad Request: Invalid Format");
    variables[key] = value;
  }
  if (Object.keys(variables).length > MAX_VARIABLES)
    throw new HttpError(400, `400 Bad Request: Dotenv files cannot have more than ${MAX_VARIABLES} variables`);
  return variables;
}

function unpacked(bytes: Buffer, format: string): Buffer {
  if (format !== "gzip") return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch {
    throw new HttpError(400, "400 Bad Request: the dotenv report cannot be unpacked");
  }
}
