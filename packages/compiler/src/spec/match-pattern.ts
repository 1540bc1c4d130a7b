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
 * constructs that need backtracking (lookaround, backreferences, atomic groups, possessive repeats). Matches nothing.
 */
export function patternProblem(pattern: string): PatternProblem | undefined {
  if (pattern.length > MAX_MATCH_LENGTH) {
    const message = `The pattern has ${pattern.length} characters, ${MAX_MATCH_LENGTH} are allowed`;
    return { message, offset: 0, length: 1 };
  }
  return unsupportedPart(pattern) ?? malformed(pattern);
}

const PARTS =
  /\\Q[^]*?(?:\\E|$)|\\(?:p\{[^}]*\}|x\{[^}]*\}|[^])|\[\^?\]?(?:\\[^]|\[:\^?[a-z]+:\]|[^\]\\])*\]|\(\?(?:<?[=!]|>|#|[|&(R0-9+-]\d*\)?)|[*+?}]\+|\{\d*,?\d*\}/g;

function unsupportedPart(pattern: string): PatternProblem | undefined {
  for (const { 0: part, index } of pattern.matchAll(PARTS)) {
    const place = { offset: index, length: part.length };
    const hint = "Patterns are of RE2: no lookaround and no backreferences.";
    if (/^\(\?<?[=!]/.test(part)) return { message: `Lookaround is not supported: ${part}`, hint, ...place };
    if (part.startsWith("(?") && !part.startsWith("(?-"))
      return { message: `The group is not supported: ${part}`, hint, ...place };
    if (/^\\[1-9k]/.test(part)) return { message: `A backreference is not supported: ${part}`, hint, ...place };
    if (/^[*+?}]\+$/.test(part)) return { message: `A possessive repeat is not supported: ${part}`, hint, ...place };
    if (part.startsWith("{") && part.match(/\d+/g)?.some((count) => Number(count) > MAX_REPEAT)) {
      return { message: `A repeat is at most ${MAX_REPEAT}: ${part}`, ...place };
    }
  }
  return undefined;
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
    .replaceAll(/\(\?[imsU]*(?:-[imsU]+)?([:)])/g, (_, end: string) => (end === ":" ? "(?:" : "(?:)"))
    .replaceAll(/\[:\^?[a-z]+:\]/g, "a-z")
    .replaceAll(/\\(?:A|z|C|a|pL|PL|pN|PN|[pP][A-Z](?!\w))/g, ".")
    .replaceAll(/\\[pP]\{[^}]*\}/g, "\\w");
}
