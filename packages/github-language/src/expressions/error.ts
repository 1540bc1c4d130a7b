import { StepsError } from "@steps/model";

/** The text is not an expression of GitHub's language, or names what is not there. */
type GithubExpressionSyntaxErrorCode =
  | "UNTERMINATED_EXPRESSION"
  | "EMPTY_EXPRESSION"
  | "UNEXPECTED_SYMBOL"
  | "UNEXPECTED_END"
  | "EXPRESSION_TOO_LONG"
  | "EXPRESSION_TOO_DEEP"
  | "UNKNOWN_NAME"
  | "UNKNOWN_FUNCTION"
  | "NAME_NOT_AVAILABLE"
  | "FUNCTION_NOT_AVAILABLE"
  | "WRONG_ARITY";

/** The expression has no value. */
type GithubExpressionValueErrorCode =
  | "INVALID_ARGUMENT"
  | "VALUE_TOO_DEEP"
  | "TOO_MUCH_MEMORY"
  | "TOO_MUCH_EFFORT"
  | "CONTEXT_FAILED"
  | "FUNCTION_FAILED";

/** The codes of `GithubExpressionError`. They do not change. */
export type GithubExpressionErrorCode = GithubExpressionSyntaxErrorCode | GithubExpressionValueErrorCode;

/**
 * The parts of a `GithubExpressionError`. `offset` and `length` are in UTF-16 units of the whole text, `expression` is
 * its part that failed.
 */
export interface GithubExpressionErrorOptions {
  readonly offset: number;
  readonly length: number;
  readonly expression: string;
  readonly cause?: unknown;
  readonly hint?: string | undefined;
}

/** An expression of GitHub's language that cannot be read or has no value. Its message holds no value of a context. */
export class GithubExpressionError extends StepsError<GithubExpressionErrorCode> {
  /** The offset in the text that was evaluated, in UTF-16 units. */
  readonly offset: number;
  /** The length in UTF-16 units; it may be 0 at the end of a text. */
  readonly length: number;
  /** The source of the expression without `${{ }}`, at most 200 units of it. */
  readonly expression: string;

  constructor(code: GithubExpressionErrorCode, message: string, options: GithubExpressionErrorOptions) {
    super(code, message, { hint: options.hint, ...("cause" in options ? { cause: options.cause } : {}) });
    this.offset = options.offset;
    this.length = options.length;
    this.expression = clip(options.expression, 200);
  }
}

interface FailureOptions {
  readonly offset?: number | undefined;
  readonly length?: number | undefined;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** A failure inside an expression, with a place in it if one is known. It never leaves this folder. */
export class Failure extends Error {
  readonly code: GithubExpressionErrorCode;
  readonly options: FailureOptions;

  constructor(code: GithubExpressionErrorCode, message: string, options: FailureOptions = {}) {
    super(message);
    this.code = code;
    this.options = options;
  }
}

/** Gives a failure a place, unless it has one. Other errors are passed on unchanged. */
export function failureAt(error: unknown, offset: number, length: number): unknown {
  if (!(error instanceof Failure) || error.options.offset !== undefined) return error;
  return new Failure(error.code, error.message, { ...error.options, offset, length });
}

/** Turns a failure in the expression that starts at `start` of a text into the error that callers see. */
export function publicError(error: unknown, source: string, start: number): unknown {
  if (!(error instanceof Failure)) return error;
  const { offset, length, ...rest } = error.options;
  return new GithubExpressionError(error.code, error.message, {
    offset: start + (offset ?? 0),
    length: length ?? (offset === undefined ? source.length : 0),
    expression: source,
    ...rest,
  });
}

/** A piece of source for a message. */
export function clip(text: string, maxLength: number = 60): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 3)}...` : text;
}
