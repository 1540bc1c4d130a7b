const brand = Symbol.for("@steps/model/StepsError");

/**
 * The base of every error a package of ours throws. `code` is from a closed union of the package, `cause` is kept.
 *
 * Messages are in sentence case without a final period, name the action that failed and quote values; they never
 * hold a secret.
 */
export class StepsError<Code extends string = string> extends Error {
  readonly code: Code;
  /** Advice on what the user may do about the error, as a sentence. Undefined when there is none. */
  readonly hint: string | undefined;

  constructor(code: Code, message: string, options: { cause?: unknown; hint?: string | undefined } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Recognises our errors, also those of another installed copy of this package. */
export function isStepsError(error: unknown, code?: string): error is StepsError {
  return (
    error instanceof Error &&
    (error as { [brand]?: boolean })[brand] === true &&
    (code === undefined || (error as StepsError).code === code)
  );
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    return "unknown error";
  }
}
