import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { nearest } from "@steps/model/diagnostic";

/** Something of this machine whose name is nearly what was typed, as it would be typed. `undefined` if nothing is near. */
export function nearestPath(
  typed: string,
  { foldersOnly = false }: { readonly foldersOnly?: boolean } = {},
): string | undefined {
  const folder = dirname(typed);
  const name = nearest(basename(typed), entriesOf(folder, foldersOnly));
  if (name === undefined) return undefined;
  if (folder === "/") return `/${name}`;
  // A bare name would be read as a repository or an image, unless it is that of a file of steps.
  if (folder === "." && !typed.startsWith("./"))
    return /\.(?:ya?ml|json|txtpb|textproto)$/i.test(name) ? name : `./${name}`;
  return `${folder}/${name}`;
}

function entriesOf(folder: string, foldersOnly: boolean): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => !foldersOnly || entry.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}
