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

/** Keywords of a job that decide what runs here, and whether it does. */
export const HONOURED_KEYWORDS: readonly string[] = [
  "after_script",
  "before_script",
  "except",
  "extends",
  "hooks",
  "inherit",
  "inputs",
  "only",
  "rules",
  "run",
  "script",
  "variables",
  "when",
];

/** Messages for keywords that cannot be ignored, because the job would run something else without them. */
export const UNSUPPORTED_KEYWORDS: Readonly<Record<string, string>> = {
  trigger: `"trigger" is not supported: the job starts another pipeline and has nothing to run here`,
};

/** Keywords that are known but have no effect here. Each has the rest of a sentence that tells what happens instead. */
export const IGNORED_KEYWORDS: Readonly<Record<string, string>> = {
  allow_failure: "a failure of the job is reported as a failure",
  artifacts: "no files are collected after the job",
  cache: "nothing is restored before the job and nothing is saved after it",
  coverage: "no coverage is read from the output",
  dast_configuration: "no scan is configured",
  dependencies: "no artifacts of other jobs are fetched",
  environment: "nothing is deployed and CI_ENVIRONMENT_* is not set",
  id_tokens: "the tokens are not made and their variables are not set",
  identity: "no credentials are fetched",
  image: "the job runs in the environment of the step runner, not in a container",
  interruptible: "the job is cancelled only by you",
  manual_confirmation: "the job starts at once",
  needs: "no other job is run and no artifacts are fetched",
  pages: "nothing is published",
  parallel: "the job runs once, without the variables of a matrix or CI_NODE_INDEX; name an instance to have them",
  publish: "nothing is published",
  release: "no release is made",
  resource_group: "other jobs are not waited for",
  retry: "the job is tried once",
  secrets: "the secrets are not fetched and their variables are not set",
  services: "no service containers are started",
  stage: "the job runs by itself, in no order with others",
  start_in: "the job starts at once",
  tags: "the job runs here, whatever runner they ask for",
  timeout: "the job may take as long as it likes",
};

/** The same for keywords at the top of a file. */
export const IGNORED_GLOBAL_KEYWORDS: Readonly<Record<string, string>> = {
  stages: "the job runs by itself, in no order with others",
};

/** Every keyword of a job. */
export const JOB_KEYWORDS: readonly string[] = [
  ...HONOURED_KEYWORDS,
  ...Object.keys(UNSUPPORTED_KEYWORDS),
  ...Object.keys(IGNORED_KEYWORDS),
];
