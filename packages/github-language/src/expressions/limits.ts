/** The limits on the cost of an expression in GitHub's language. Lengths of text are in UTF-16 units. */
export const expressionLimits: {
  /** The length of one expression without its `${{ }}`. This is GitHub's limit. */
  readonly maxExpressionLength: number;
  /** The depth of the syntax tree. This is GitHub's limit. */
  readonly maxDepth: number;
  /**
   * The memory for the values that one evaluation makes: 26 bytes for each, and 2 for each unit of a string. This is
   * GitHub's limit.
   */
  readonly maxBytes: number;
  /**
   * The effort of one evaluation, for all that it reads and compares; a unit is about one character. GitHub only has a
   * time limit.
   */
  readonly maxEffort: number;
  /** The depth of a value that `toJSON` writes or `fromJSON` reads. */
  readonly maxValueDepth: number;
} = {
  maxExpressionLength: 21_000,
  maxDepth: 50,
  maxBytes: 10 * 1024 * 1024,
  maxEffort: 32 * 1024 * 1024,
  maxValueDepth: 100,
};
