import { type Message, MESSAGE_LIMITS } from "@steps/runner-api";
import type { Exchange } from "./exchange.ts";
import { HttpError } from "./http-error.ts";

const FLAGS: ReadonlySet<string> = new Set(["active", "locked", "paused", "run_untagged"]);
const NUMBERS: ReadonlySet<string> = new Set(["group_id", "maximum_timeout", "project_id"]);

/**
 * Reads the parameters of a call as GitLab takes them: JSON, or a form as `curl --data` and `curl --form` send it, or nothing.
 *
 * @throws {RunnerApiError} MESSAGE_INVALID @throws {HttpError} 400 for a form that is malformed, 413
 */
export async function readParameters<T>(
  exchange: Exchange,
  message: Pick<Message<T>, "read" | "readValue">,
): Promise<T> {
  const body = await exchange.body(MESSAGE_LIMITS.request);
  if (body.length === 0) return message.readValue({});
  const type = exchange.headers["content-type"] ?? "";
  const isForm = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type);
  // `curl --data` calls everything a form.
  if (!isForm || body[0] === 0x7b) return message.read(body);
  return message.readValue(valuesOf(await formOf(body, type)));
}

async function formOf(body: Buffer, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  } catch {
    throw new HttpError(400, "400 Bad Request: the form is malformed");
  }
}

function valuesOf(form: FormData): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of new Set(form.keys())) {
    const texts = form.getAll(name).filter((value) => typeof value === "string");
    const key = name.endsWith("[]") ? name.slice(0, -2) : name;
    values[key] = name === key ? valueOf(key, texts.at(-1) ?? "") : texts;
  }
  return values;
}

function valueOf(key: string, text: string): unknown {
  if (FLAGS.has(key)) return /^(?:true|t|1|on|yes)$/i.test(text);
  return NUMBERS.has(key) && /^\d{1,15}$/.test(text) ? Number(text) : text;
}
