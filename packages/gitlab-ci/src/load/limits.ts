/** Largest text of one file, in UTF-16 units; GitLab refuses more than a mebibyte. */
export const MAX_FILE_LENGTH: number = 1024 * 1024;

/** Texts of all files together, in UTF-16 units. */
export const MAX_TOTAL_LENGTH: number = 64 * 1024 * 1024;

/** Files that a pipeline may include, each time counted; GitLab's own limit. */
export const MAX_INCLUDES = 150;

/** Nodes of a configuration, each counted as often as it is used. */
export const MAX_NODES = 5_000_000;

/** Entries that merging may copy. */
export const MAX_MERGED_ENTRIES = 2_000_000;

/** Jobs that a bound of GitLab's leaves far behind: a pipeline of more is a mistake. */
export const MAX_JOBS = 50_000;

/** Longest chain of `extends`: a job and eleven ancestors; GitLab's own limit. */
export const MAX_ANCESTORS = 11;

/** Deepest nesting of references in references; GitLab's own limit. */
export const MAX_REFERENCES = 10;

/** Nodes of one file after its inputs were filled in; GitLab's own limit. */
export const MAX_FILLED_NODES = 500_000;

/** Longest text that filling in inputs may make, and longest text that it looks at, in UTF-16 units; GitLab's own limit. */
export const MAX_FILLED_LENGTH: number = 1024 * 1024;

/** Texts that filling in inputs may make in one file, together, in UTF-16 units. */
export const MAX_FILLED_TOTAL: number = 16 * 1024 * 1024;
