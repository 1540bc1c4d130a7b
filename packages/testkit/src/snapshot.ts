import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Everything in a folder: content by path, `-> target` for links, `x ` before programs. */
export function snapshot(dir: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) Object.assign(found, snapshot(path, `${prefix}${name}/`));
    else if (stats.isSymbolicLink()) found[prefix + name] = `-> ${readlinkSync(path)}`;
    else found[prefix + name] = ((stats.mode & 0o100) === 0 ? "" : "x ") + readFileSync(path, "utf8");
  }
  return found;
}
