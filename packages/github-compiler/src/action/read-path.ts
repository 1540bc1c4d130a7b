import { quote } from "@steps/model/diagnostic";
import type { YamlNode } from "@steps/source";
import type { Reading } from "../reading/reading.ts";
import { literalOf } from "../reading/texts.ts";

/**
 * A path from the folder of the manifest. `..` may still stay in the repository, which only who loads it can tell; an absolute
 * path cannot.
 */
export function pathOf(reading: Reading, node: YamlNode, what: string): string | undefined {
  const path = literalOf(reading, node, what);
  if (path === undefined) return undefined;
  if (isRelative(path)) return path;
  reading.report.error(node, {
    code: "unsafe-path",
    message: `${what} is no path in the action's repository: ${quote(path)}`,
    hint: "Paths start at the folder of the manifest.",
  });
  return undefined;
}

function isRelative(path: string): boolean {
  return !/^(?:[/\\]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*:\/\/)/.test(path);
}
