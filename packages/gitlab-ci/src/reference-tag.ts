/** GitLab's tag for a value that stands elsewhere. */
export const REFERENCE_TAG = "!reference";
