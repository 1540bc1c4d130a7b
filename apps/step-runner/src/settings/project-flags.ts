/**
 * The flags that the file of a project may set although nobody has looked at it: it may come with a project that was cloned. They
 * say what is run and in what situation. None of them reaches a secret of the user, a folder outside of the project, another source
 * for what is fetched, or a job that waits for a person (ADR 37).
 */
export const PROJECT_FLAGS: ReadonlySet<string> = new Set([
  "changes-since",
  "compat",
  "delay",
  "event-name",
  "input",
  "job-input",
  "job-name",
  "jobs",
  "lenient",
  "locked",
  "mask",
  "mask-variable",
  "merge-request",
  "offline",
  "only",
  "project-url",
  "quiet",
  "ref",
  "report",
  "source",
  "stage",
  "strict-env",
  "strict-moa",
  "strict-vars",
  "tag",
  "timeout",
  "variable",
]);
