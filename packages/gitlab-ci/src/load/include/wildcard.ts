/** Whether the path of a local include stands for several files. */
export function hasWildcard(path: string): boolean {
  return path.includes("*");
}

/** The folder that holds everything a path with a wildcard can stand for, without slashes at its ends. */
export function folderOf(pattern: string): string {
  return pattern.slice(0, Math.max(0, pattern.lastIndexOf("/", pattern.indexOf("*"))));
}

/**
 * Whether a path is one of those that a pattern of a local include stands for: `*` is any text without a slash, `**` any
 * text at all. Takes time linear in both, times the number of wildcards.
 */
export function matchesWildcard(pattern: string, path: string): boolean {
  const [first = "", ...rest] = pattern.split(/(\*\*|\*)/);
  if (!path.startsWith(first)) return false;
  // All ends of what was matched so far.
  let ends: readonly number[] = [first.length];
  for (let index = 0; index < rest.length; index += 2) {
    const literal = rest[index + 1] as string;
    ends = after(path, { from: ends, crossesFolders: rest[index] === "**", literal });
  }
  return ends.includes(path.length);
}

function after(
  path: string,
  { from, crossesFolders, literal }: { from: readonly number[]; crossesFolders: boolean; literal: string },
): readonly number[] {
  const ends: number[] = [];
  const starts = new Set(from);
  let isOpen = false;
  for (let at = 0; at <= path.length; at++) {
    isOpen ||= starts.has(at);
    if (isOpen && path.startsWith(literal, at)) ends.push(at + literal.length);
    if (path[at] === "/" && !crossesFolders) isOpen = false;
  }
  return ends;
}
