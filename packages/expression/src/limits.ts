/** What an expression may cost. Lengths of text are in UTF-16 units. */
export const limits: {
  /** Of a text that holds `${{`; a text without one may have any length. */
  readonly maxSourceLength: number;
  /** Brackets, parentheses, calls and nested strings inside one another. */
  readonly maxNesting: number;
  /** Of the syntax tree, over all expressions of one text. */
  readonly maxNodes: number;
  /** Of a string that an expression makes. */
  readonly maxTextLength: number;
  /** Of a value that is compared, searched or turned into text. */
  readonly maxValueDepth: number;
  /** Of an array that `split` makes. */
  readonly maxItems: number;
  /** What one evaluation may read and write in all; a unit is about one character read. */
  readonly maxEffort: number;
} = {
  maxSourceLength: 1024 * 1024,
  maxNesting: 200,
  maxNodes: 10_000,
  maxTextLength: 64 * 1024 * 1024,
  maxValueDepth: 1000,
  maxItems: 1_000_000,
  maxEffort: 1024 * 1024 * 1024,
};
