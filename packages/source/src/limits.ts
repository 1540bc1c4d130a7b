/** Largest text that is read, in UTF-16 units. */
export const MAX_TEXT_LENGTH: number = 4 * 1024 * 1024;

/** Deepest nesting of lists and mappings, aliases followed. */
export const MAX_DEPTH = 100;

/** Nodes that aliases and merge keys may add to what is written in a text. */
export const MAX_ALIAS_NODES = 100_000;

/** Tokens of one text, white space counted: the parser keeps some hundred bytes for each, and takes some microseconds. */
export const MAX_TOKENS = 800_000;

/** Documents that are read from one text. */
export const MAX_DOCUMENTS = 100;

/** Diagnostics of each severity that are kept. */
export const MAX_DIAGNOSTICS = 100;
