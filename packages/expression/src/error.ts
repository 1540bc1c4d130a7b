import { StepsError } from "@steps/model";
import { nearest } from "@steps/model/diagnostic";

/** The text is not an expression. */
type ExpressionSyntaxErrorCode =
  | "UNTERMINATED_EXPRESSION"
  | "UNTERMINATED_STRING"
  | "EMPTY_EXPRESSION"
  | "UNEXPECTED_CHARACTER"
  | "UNEXPECTED_TOKEN"
  | "BAD_ESCAPE"
  | "BAD_NUMBER"
  | "RESERVED_WORD"
  | "NOT_CALLABLE"
  | "SOURCE_TOO_LARGE"
  | "NESTING_TOO_DEEP"
  | "TOO_MANY_NODES";

/** The expression has no value, or not one that fits. */
type ExpressionValueErrorCode =
  | "UNKNOWN_NAME"
  | "UNKNOWN_FUNCTION"
  | "UNKNOWN_KEY"
  | "INDEX_OUT_OF_RANGE"
  | "INVALID_INDEX"
  | "INVALID_KEY"
  | "DUPLICATE_KEY"
  | "INVALID_ARGUMENT"
  | "WRONG_ARITY"
  | "TYPE_MISMATCH"
  | "ACCESS_ON_NULL"
  | "DIVISION_BY_ZERO"
  | "NUMBER_NOT_FINITE"
  | "NULL_IN_TEXT"
  | "NOT_TEXT"
  | "TEXT_TOO_LARGE"
  | "VALUE_TOO_DEEP"
  | "TOO_MUCH_EFFORT"
  | "FUNCTION_FAILED";

/** The codes of `ExpressionError`. They do not change. */
export type ExpressionErrorCode = ExpressionSyntaxErrorCode | ExpressionValueErrorCode;

/** The place of an error in a template. */
export interface Place {
  /** The offset from the start of the template, in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  /** The source text of the `${{ }}` that it is in. */
  readonly expression: string;
}

/** The optional parts of an `ExpressionError`. `place` is a place in the template; `path` leads to it within nested values. */
export interface ExpressionErrorOptions {
  readonly cause?: unknown;
  readonly hint?: string | undefined;
  readonly place?: Place | undefined;
  readonly path?: readonly string[] | undefined;
}

/** An expression that cannot be read or has no value. Its texts never hold a value that is marked sensitive. */
export class ExpressionError extends StepsError<ExpressionErrorCode> {
  /** The offset in the template, in UTF-16 units. */
  readonly offset: number;
  /** The length in UTF-16 units. */
  readonly length: number;
  /** The source text of the `${{ }}`, delimiters included; empty as long as no place is known. */
  readonly expression: string;
  /** The keys and indexes that lead to the text, when a whole value was expanded. */
  readonly path: readonly string[];

  constructor(code: ExpressionErrorCode, message: string, options: ExpressionErrorOptions = {}) {
    super(code, message, options);
    this.offset = options.place?.offset ?? 0;
    this.length = options.place?.length ?? 0;
    this.expression = options.place?.expression ?? "";
    this.path = options.path ?? [];
  }
}

/** Gives an error of this package its place, unless it has one. Other errors are passed on unchanged. */
export function withPlace(error: unknown, place: () => Place): unknown {
  if (!(error instanceof ExpressionError) || error.expression !== "") return error;
  return new ExpressionError(error.code, error.message, { ...rest(error), place: place() });
}

/** Says which part of a value the text of an error stands in. */
export function withPath(error: unknown, key: string): unknown {
  if (!(error instanceof ExpressionError)) return error;
  return new ExpressionError(error.code, error.message, { ...rest(error), place: error, path: [key, ...error.path] });
}

function rest(error: ExpressionError): ExpressionErrorOptions {
  return { hint: error.hint, path: error.path, ...("cause" in error ? { cause: error.cause } : {}) };
}

const MAX_LISTED = 20;
const MAX_COMPARED = 1000;

/** `Did you mean "x"? Known names: a, b, c`, bounded in length. */
export function hintNames(written: string, known: readonly string[], what: string): string {
  const near = nearest(written, known.slice(0, MAX_COMPARED));
  const listed = known.slice(0, MAX_LISTED).map(shorten);
  const more = known.length > MAX_LISTED ? ` and ${known.length - MAX_LISTED} more` : "";
  const list = listed.length === 0 ? `There are no ${what}` : `Known ${what}: ${listed.join(", ")}${more}`;
  return near === undefined ? list : `Did you mean "${shorten(near)}"? ${list}`;
}

const OF_GITHUB: ReadonlySet<string> = new Set(["github", "runner", "matrix", "needs", "strategy"]);

/** The same for a name at the root of an expression: some are known from GitHub's language. */
export function hintRoot(written: string, known: readonly string[]): string {
  const foreign = "A context of GitHub is known inside of an action or a workflow only; CI variables are in vars. ";
  return `${OF_GITHUB.has(written) ? foreign : ""}${hintNames(written, known, "names")}`;
}

/** A name or a piece of source for a message. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
