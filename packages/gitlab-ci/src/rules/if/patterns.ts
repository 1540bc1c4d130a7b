export { type CompiledPattern, type CompilePattern, loadPatterns, PatternError } from "@steps/model/pattern";

/** The parts of a pattern that is written `/body/flags`. */
export interface PatternParts {
  /** Without the backslash before a slash. */
  readonly body: string;
  readonly flags: string;
}

/**
 * Reads a text as `/body/flags`: the first of its lines that begins with a slash and ends with one and flags. `undefined` when
 * it is no pattern, as most values of variables are.
 */
export function readPattern(text: string): PatternParts | undefined {
  for (const line of text.replaceAll(String.raw`\/`, "/").split("\n")) {
    const end = line.lastIndexOf("/");
    if (end < 1 || !line.startsWith("/")) continue;
    const flags = line.slice(end + 1);
    if (/^[ismU]*$/.test(flags)) return { body: line.slice(1, end), flags };
  }
  return undefined;
}
