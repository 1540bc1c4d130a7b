/** A name of variables in which `*` stands for any characters and `?` for one. */
export const VARIABLE_PATTERN: RegExp = /^[a-zA-Z_*?][a-zA-Z0-9_*?]{0,199}$/;

/** Whether a variable has one of the names or matches one of the patterns. */
export function matchesVariable(name: string, patterns: Iterable<string>): boolean {
  for (const pattern of patterns) if (matches(name, pattern)) return true;
  return false;
}

// Goes back to the last `*` only, so the time is bounded by the product of the lengths.
function matches(name: string, pattern: string): boolean {
  let at = 0;
  let star = -1;
  let restart = 0;
  for (let i = 0; i < name.length;) {
    if (pattern[at] === "*") {
      star = at++;
      restart = i;
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === name[i])) {
      at++;
      i++;
    } else if (star === -1) return false;
    else {
      at = star + 1;
      i = ++restart;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
