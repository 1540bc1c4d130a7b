/** Keywords at the top of a file. Any other key there is a job or, with a leading dot, free for any use. */
export const GLOBAL_KEYWORDS: readonly string[] = [
  "after_script",
  "before_script",
  "cache",
  "default",
  "image",
  "include",
  "services",
  "spec",
  "stages",
  "variables",
  "workflow",
];

/** The keywords that `default:` may hold. */
export const DEFAULT_KEYWORDS: readonly string[] = [
  "after_script",
  "artifacts",
  "before_script",
  "cache",
  "hooks",
  "id_tokens",
  "identity",
  "image",
  "interruptible",
  "retry",
  "services",
  "tags",
  "timeout",
];

/** The deprecated spelling of some of them, at the top of the file. */
export const TOP_LEVEL_DEFAULTS: readonly string[] = ["after_script", "before_script", "cache", "image", "services"];

/** Messages for keywords that cannot be ignored, because the job would run something else without them. */
export const UNSUPPORTED_KEYWORDS: Readonly<Record<string, string>> = {
  trigger: `"trigger" is not supported: the job starts another pipeline and has nothing to run here`,
};

/**
 * Keywords that have no effect on a job here. What only orders jobs is not among them: it has none on a single job, and its own
 * where the whole pipeline runs.
 */
export const IGNORED_KEYWORDS: readonly string[] = [
  "dast_configuration",
  // Its variables are set, and nothing is deployed.
  "environment",
  "identity",
  // Its folder is kept as an artifact, and nothing is published.
  "pages",
  "tags",
];
