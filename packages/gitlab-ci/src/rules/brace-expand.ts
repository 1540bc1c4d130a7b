/** Texts that are made on the way, whole or not. */
const MAX_STEPS = 2000;

/**
 * Expands `{a,b}` as Ruby's `File.fnmatch` does with `FNM_EXTGLOB`: the first braces, then those of each text that comes of it;
 * `\` takes the meaning from the next character; a pattern with unbalanced braces is none at all. `undefined` when there are
 * too many texts.
 */
export function expandBraces(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const waiting = [pattern];
  for (let steps = 0; waiting.length > 0; steps++) {
    if (steps > MAX_STEPS || waiting.length > MAX_STEPS) return undefined;
    const text = waiting.pop() as string;
    const { open, close } = findBraces(text);
    if (open === undefined && close === undefined) done.push(text);
    if (open === undefined || close === undefined) continue;
    const alternatives = splitAlternatives(text.slice(open + 1, close));
    for (const part of alternatives.toReversed()) waiting.push(text.slice(0, open) + part + text.slice(close + 1));
  }
  return done;
}

function findBraces(text: string): { readonly open?: number; readonly close?: number } {
  let open: number | undefined;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") {
      if (depth === 0) open = at;
      depth += 1;
    } else if (text[at] === "}" && open !== undefined) {
      depth -= 1;
      if (depth === 0) return { open, close: at };
    }
  }
  return { open };
}

function splitAlternatives(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") depth += 1;
    else if (text[at] === "}") depth -= 1;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}
