import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { bun } from "./engine.ts";

/** The login name of the user of this process. `undefined` for one without a name, as containers may have. */
export function loginName(): string | undefined {
  try {
    // Bun asks the environment, which may say anything, or nothing.
    return bun === undefined ? userInfo().username : nameOf(process.getuid?.());
  } catch {
    return undefined;
  }
}

function nameOf(uid: number | undefined): string | undefined {
  const rows = readFileSync("/etc/passwd", "utf8").split("\n");
  return rows.map((row) => row.split(":")).find((fields) => fields[2] === String(uid))?.[0];
}
