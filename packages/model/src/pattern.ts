// Regular expressions of users, in RE2's language. Not in the index, since few runs need the engine.
/** A pattern that is ready to be looked for. */
export interface CompiledPattern {
  /** True if it is found anywhere in a text, which takes time linear to its length. @throws {PatternError} */
  test(text: string): boolean;
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
  create: (source: string) => { test(text: string): boolean },
  failure: new (...args: never[]) => Error,
): CompiledPattern {
  if (source.length > MAX_LENGTH) throw new PatternError(`it is longer than ${MAX_LENGTH} characters`, true);
  try {
    const pattern = create(source);
    return {
      test(text) {
        if (source.length * text.length > MAX_WORK) throw new PatternError("the text is too long for it", true);
        return pattern.test(text);
      },
    };
  } catch (error) {
    if (error instanceof failure) throw new PatternError(error.message.replace(/^error parsing regexp: /, ""));
    throw error;
  }
}
