/** What an expression of GitHub's language may cost. Lengths of text are in UTF-16 units. */
export const expressionLimits: {
  /** Of one expression, without its `${{ }}`: GitHub's limit. */
  readonly maxExpressionLength: number;
  /** Of the syntax tree: GitHub's limit. */
  readonly maxDepth: number;
  /** What the values that one evaluation makes may take, GitHub's limit: 26 bytes and 2 for each unit of a string. */
  readonly maxBytes: number;
  /** What one evaluation may read and compare in all; a unit is about one character. GitHub has only a clock. */
  readonly maxEffort: number;
  /** Of a value that `toJSON` writes or `fromJSON` reads. */
  readonly maxValueDepth: number;
} = {
  maxExpressionLength: 21_000,
  maxDepth: 50,
  maxBytes: 10 * 1024 * 1024,
  maxEffort: 32 * 1024 * 1024,
  maxValueDepth: 100,
};
