/** The limits on the cost of an expression. Lengths of text are in UTF-16 units. */
export const limits: {
  /** The length of a text that holds `${{`; a text without one may have any length. */
  readonly maxSourceLength: number;
  /** Brackets, parentheses, calls and nested strings inside one another. */
  readonly maxNesting: number;
  /** The number of nodes in the syntax trees of all expressions of one text. */
  readonly maxNodes: number;
  /** The length of a string that an expression makes. */
  readonly maxTextLength: number;
  /** The depth of a value that is compared, searched or turned into text. */
  readonly maxValueDepth: number;
  /** The number of items of an array that `split` makes. */
  readonly maxItems: number;
  /** The effort of one evaluation, for all that it reads and writes; a unit is about one character read. */
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
