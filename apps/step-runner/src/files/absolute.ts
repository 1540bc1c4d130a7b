import { isAbsolute, resolve } from "node:path";

/** An absolute path for one that was typed. */
export function absolute(path: string): string {
  return isAbsolute(path) ? path : resolve(path);
}
