/** The pattern for one part of a path. */
export type GlobSegment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "wild"; readonly tokens: readonly GlobToken[] }
  /** `**`: any number of parts. */
  | { readonly kind: "any" };

type GlobToken =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "one" }
  | { readonly kind: "many" }
  | { readonly kind: "class"; readonly isNegated: boolean; readonly ranges: ReadonlyArray<readonly [string, string]> };

/** Reads a part of a pattern: `*`, `?`, `[a-z]`, `[!a]`, and `\` before a character that stands for itself. */
export function parseSegment(text: string): GlobSegment {
  if (text === "**") return { kind: "any" };
  const tokens: GlobToken[] = [];
  for (let at = 0; at < text.length;) {
    const char = text[at] as string;
    const set = char === "[" ? parseClass(text, at) : undefined;
    if (set) tokens.push(set.token);
    else if (char === "\\" && at + 1 < text.length) tokens.push({ kind: "char", char: text[at + 1] as string });
    else if (char === "?") tokens.push({ kind: "one" });
    else if (char !== "*") tokens.push({ kind: "char", char });
    else if (tokens.at(-1)?.kind !== "many") tokens.push({ kind: "many" });
    at = set ? set.end : char === "\\" && at + 1 < text.length ? at + 2 : at + 1;
  }
  if (tokens.every((token) => token.kind === "char")) {
    return { kind: "literal", text: tokens.map(({ char }) => char).join("") };
  }
  return { kind: "wild", tokens };
}

/** Whether a name is what the segment says; a `**` is not asked. */
export function matchesSegment(segment: GlobSegment, name: string): boolean {
  if (segment.kind === "literal") return segment.text === name;
  return segment.kind === "any" || matchesTokens(segment.tokens, name);
}

// In time of the product of both, as only the last "*" is ever tried again.
function matchesTokens(tokens: readonly GlobToken[], name: string): boolean {
  let token = 0;
  let retry: { token: number; at: number } | undefined;
  for (let at = 0; at < name.length;) {
    const next = tokens[token];
    if (next?.kind === "many") {
      retry = { token: (token += 1), at };
    } else if (next && matchesOne(next, name[at] as string)) {
      token += 1;
      at += 1;
    } else if (retry) {
      at = retry.at += 1;
      token = retry.token;
    } else return false;
  }
  while (tokens[token]?.kind === "many") token += 1;
  return token === tokens.length;
}

function matchesOne(token: GlobToken, char: string): boolean {
  if (token.kind === "char") return token.char === char;
  if (token.kind !== "class") return true;
  return token.ranges.some(([first, last]) => char >= first && char <= last) !== token.isNegated;
}

// A bracket that is not closed, and a set without characters, stand for themselves.
function parseClass(text: string, start: number): { readonly token: GlobToken; readonly end: number } | undefined {
  const isNegated = text[start + 1] === "!" || text[start + 1] === "^";
  const ranges: (readonly [string, string])[] = [];
  const first = start + (isNegated ? 2 : 1);
  let at = first;
  const take = (): string => {
    if (text[at] === "\\" && at + 1 < text.length) at += 1;
    return text[at++] as string;
  };
  while (at < text.length && (text[at] !== "]" || at === first)) {
    const from = take();
    const isRange = text[at] === "-" && at + 1 < text.length && text[at + 1] !== "]";
    if (isRange) at += 1;
    ranges.push([from, isRange ? take() : from]);
  }
  if (at >= text.length) return undefined;
  const [only] = ranges;
  if (!isNegated && ranges.length === 1 && only && only[0] === only[1]) {
    return { token: { kind: "char", char: only[0] }, end: at + 1 };
  }
  return { token: { kind: "class", isNegated, ranges }, end: at + 1 };
}
