import { randomUUID } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../error.ts";
import { removeAll } from "./files.ts";

/** Removes an entry in one move, so that no reader ever finds half of it. */
export async function discardEntry(dir: string, trash: string): Promise<boolean> {
  const gone = join(trash, randomUUID());
  try {
    await rename(dir, gone);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
  await removeAll(gone);
  return true;
}
