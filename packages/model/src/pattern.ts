// Regular expressions of users, in RE2's language. Not in the index, since few runs need the engine.
import type { RE2JS } from "re2js";

/** A pattern that is ready to be looked for. */
export interface CompiledPattern {
  /** True if it is found anywhere in a text, which takes time linear to its length. @throws {PatternError} */
  test(text: string): boolean;
  /**
   * The last of the matches in a text: its last group where the pattern has groups, otherwise the whole. `undefined` without a match,
   * and where the group is none of it. Behind the hundredth match none is looked for, so that the time stays linear to the length.
   * @throws {PatternError}
   */
  lastMatch(text: string): string | undefined;
}

/** The text of a pattern that the engine refuses, or one that would cost too much. */
export class PatternError extends Error {
  /** True for a pattern of RE2's language that costs more than is allowed here. */
  readonly isTooMuch: boolean;

  constructor(message: string, isTooMuch = false) {
    super(message);
    this.name = "PatternError";
    this.isTooMuch = isTooMuch;
  }
}

/** Compiles the text of a pattern in RE2's syntax, with flags of `ismU`. @throws {PatternError} */
export type CompilePattern = (body: string, flags: string) => CompiledPattern;

/** Longest pattern, in UTF-16 units. */
const MAX_LENGTH = 10_000;

/** Length of a pattern times length of a text: about a second of work at worst. */
const MAX_WORK = 200_000_000;

/** Patterns that are kept compiled. */
const MAX_KEPT = 500;

/** Matches in one text, each of which may look at all of it. */
const MAX_MATCHES = 100;

let loaded: Promise<CompilePattern> | undefined;

/** Loads the engine of patterns, which is large, when it is asked for first. */
export function loadPatterns(): Promise<CompilePattern> {
  loaded ??= import("re2js").then(({ RE2JS, RE2JSException }) => {
    const kept = new Map<string, CompiledPattern>();
    return (body, flags) => {
      const source = flags === "" ? body : `(?${flags})${body}`;
      const known = kept.get(source);
      if (known !== undefined) return known;
      const compiled = compile(source, (text) => RE2JS.compile(text), RE2JSException);
      if (kept.size < MAX_KEPT) kept.set(source, compiled);
      return compiled;
    };
  });
  return loaded;
}

function compile(
  source: string,
  create: (source: string) => Pick<RE2JS, "test" | "matcher">,
  failure: new (...args: never[]) => Error,
): CompiledPattern {
  if (source.length > MAX_LENGTH) throw new PatternError(`it is longer than ${MAX_LENGTH} characters`, true);
  try {
    const pattern = create(source);
    const checked = (text: string): string => {
      if (source.length * text.length > MAX_WORK) throw new PatternError("the text is too long for it", true);
      return text;
    };
    return {
      test: (text) => pattern.test(checked(text)),
      lastMatch: (text) => lastMatch(pattern.matcher(checked(text))),
    };
  } catch (error) {
    if (error instanceof failure) throw new PatternError(error.message.replace(/^error parsing regexp: /, ""));
    throw error;
  }
}

function lastMatch(matcher: ReturnType<RE2JS["matcher"]>): string | undefined {
  const group = matcher.groupCount();
  let last: string | null = null;
  for (let count = 0; count < MAX_MATCHES && matcher.find(); count++) last = matcher.group(group);
  return last ?? undefined;
}
