/** Largest text that is read, in UTF-16 units. */
export const MAX_TEXT_LENGTH: number = 4 * 1024 * 1024;

/** Deepest nesting of lists and mappings, aliases followed. */
export const MAX_DEPTH = 100;

/** Nodes that aliases and merge keys may add to what is written in a text. */
export const MAX_ALIAS_NODES = 100_000;

/** Documents that are read from one text. */
export const MAX_DOCUMENTS = 100;

/** Diagnostics of each severity that are kept. */
export const MAX_DIAGNOSTICS = 100;

/** Longest regular expression of an input, in UTF-16 units. */
export const MAX_MATCH_LENGTH = 1000;
