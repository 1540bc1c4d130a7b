/** The first problem of a regular expression, with its place in the pattern. */
export interface PatternProblem {
  readonly message: string;
  readonly hint?: string;
  /** In UTF-16 units of the pattern. */
  readonly offset: number;
  readonly length: number;
}

/** The longest regular expression of an input, in UTF-16 units. */
const MAX_MATCH_LENGTH = 1000;

const MAX_REPEAT = 1000;

/**
 * Gives the first problem of a regular expression: a malformed part, or syntax that RE2 does not have, above all
 * constructs that need backtracking (lookaround, backreferences, atomic groups, possessive repeats). Matches nothing, and
 * needs no engine: that is loaded only where something is matched. Whatever passes here is taken by the engine.
 */
export function patternProblem(pattern: string): PatternProblem | undefined {
  if (pattern.length > MAX_MATCH_LENGTH) {
    const message = `The pattern has ${pattern.length} characters, ${MAX_MATCH_LENGTH} are allowed`;
    return { message, offset: 0, length: 1 };
  }
  return unsupportedPart(pattern) ?? malformed(pattern);
}

const PARTS =
  /\\Q[^]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP][A-Z]|[^]|$)|(?:\[\^|\[(?!\^))(?:\\[^]|\[:\^?[a-z]+:\]|[^\\])(?:\\[^]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\[|\(\?(?:<?[=!]|>|#|[|&(R0-9+-]\d*\)?)|[*+?}]\+|\{\d*,?\d*\}/gu;

function unsupportedPart(pattern: string): PatternProblem | undefined {
  for (const { 0: part, index } of pattern.matchAll(PARTS)) {
    const place = { offset: index, length: part.length };
    const hint = "Patterns are of RE2: no lookaround and no backreferences.";
    if (/^\(\?<?[=!]/.test(part)) return { message: `Lookaround is not supported: ${part}`, hint, ...place };
    if (part.startsWith("(?") && !part.startsWith("(?-"))
      return { message: `The group is not supported: ${part}`, hint, ...place };
    if (/^\\[1-9k]/.test(part)) return { message: `A backreference is not supported: ${part}`, hint, ...place };
    if (/^[*+?}]\+$/.test(part)) return { message: `A possessive repeat is not supported: ${part}`, hint, ...place };
    if (part === "[") return { message: 'The pattern lacks a "]"', ...place };
    const wrong = part.startsWith("[") ? wrongPartOfClass(part) : wrongEscape(part);
    if (wrong !== undefined) return { message: `This is not supported: ${wrong}`, ...place };
    if (part.startsWith("{") && part.match(/\d+/g)?.some((count) => Number(count) > MAX_REPEAT)) {
      return { message: `A repeat is at most ${MAX_REPEAT}: ${part}`, ...place };
    }
  }
  return undefined;
}

/** Escapes of a character or of a class of them: the letters that RE2 knows, and any character of ASCII without a meaning. */
const CHARACTER = /^\\(?:[afnrtvdDsSwW0]|[pP][A-Z]|[pP]\{|x[0-9A-Fa-f]{2}|x\{|[^A-Za-z0-9\u0080-\u{10ffff}])/u;

function wrongEscape(part: string): string | undefined {
  if (!part.startsWith("\\") || /^\\[QAbBz]/.test(part)) return undefined;
  return isKnown(part) ? undefined : part;
}

const POSIX = /^(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit)$/;

function wrongPartOfClass(part: string): string | undefined {
  const items =
    part.slice(1).match(/\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP][A-Z]|[^])|\[:\^?[a-z]+:\]/gu) ?? [];
  const wrong = items.find((item) =>
    item.startsWith("[") ? !POSIX.test(item.replaceAll(/[^a-z]/g, "")) : !isKnown(item),
  );
  // A range from a character to a class is none.
  return wrong ?? /(?<=[^[^\\])-\\[dDsSwWpP]/.exec(part)?.[0];
}

function isKnown(escape: string): boolean {
  if (!CHARACTER.test(escape)) return false;
  const code = /^\\x\{(.*)\}$/.exec(escape)?.[1];
  if (code !== undefined) return /^[0-9A-Fa-f]{1,6}$/.test(code) && Number.parseInt(code, 16) <= 0x10_ff_ff;
  const name = /^\\[pP](?:\{\^?(.*)\}|([A-Z]))$/.exec(escape);
  return name === null || isUnicodeClass(name[1] ?? name[2] ?? "");
}

/** Tells whether a name is that of a script or of a general category, in its short form: `Greek`, `Lu`. */
function isUnicodeClass(name: string): boolean {
  if (!/^[A-Za-z_]+$/.test(name)) return false;
  const property = name.length < 3 ? "General_Category" : "Script";
  try {
    void new RegExp(`\\p{${property}=${name}}`, "u");
    return true;
  } catch {
    return false;
  }
}

function malformed(pattern: string): PatternProblem | undefined {
  const translated = toJavaScript(pattern);
  for (const flags of ["u", ""]) {
    try {
      void new RegExp(translated, flags);
      return undefined;
    } catch (error) {
      if (flags === "u") continue;
      const reason = error instanceof Error ? error.message.replace(/^.*\/: ?/s, "") : "malformed";
      return { message: `The pattern is malformed: ${reason}`, offset: 0, length: pattern.length };
    }
  }
  return undefined;
}

/** RE2's own spellings in those of JavaScript, as far as the syntax goes. */
function toJavaScript(pattern: string): string {
  return pattern
    .replaceAll(/\\Q([^]*?)(?:\\E|$)/g, (_, text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .replaceAll("(?P<", "(?<")
    .replaceAll(
      /(\\[^])|\(\?[imsU]*(?:-[imsU]+)?([:)])/g,
      (_, escape: string | undefined, end: string) => escape ?? (end === ":" ? "(?:" : ""),
    )
    .replaceAll(/\[:\^?[a-z]+:\]/g, "a-z")
    .replaceAll(/\\(?:A|z|C|a|pL|PL|pN|PN|[pP][A-Z](?!\w))/g, ".")
    .replaceAll(/\\(?:[pP]\{[^}]*\}|x\{[^}]*\})/g, "\\w");
}
