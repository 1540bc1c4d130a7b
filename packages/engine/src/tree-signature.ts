import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A text that changes when anything in a folder does: names, modes, sizes, times, inodes; the content itself is not read. */
export function treeSignature(root: string): string {
  const rows: string[] = [];
  const visit = (path: string): void => {
    const { mode, size, mtimeNs, ctimeNs, ino } = lstatSync(path, { bigint: true });
    rows.push([path, mode, size, mtimeNs, ctimeNs, ino].join(" "));
    if ((mode & 0o170000n) === 0o040000n) for (const name of readdirSync(path).toSorted()) visit(join(path, name));
  };
  try {
    visit(root);
  } catch {
    // Taken away or closed: not what it was.
    return "";
  }
  return rows.join("\n");
}
