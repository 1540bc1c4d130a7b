import type { Diagnostic, DiagnosticRule } from "@steps/model/diagnostic";
import type { Report, SourceCode } from "@steps/source";

/** The codes of diagnostics that only files of GitHub Actions have; those of `@steps/source` come besides. */
export type GithubCode =
  | "ambiguous-job"
  | "changed-number"
  | "circular-needs"
  | "constant-condition"
  | "expression-in-text"
  | "incomplete-manifest"
  | "invalid-call"
  | "invalid-cron"
  | "invalid-image"
  | "invalid-manifest"
  | "invalid-matrix"
  | "invalid-workflow"
  | "key-not-honoured"
  | "key-of-other-kind"
  | "missing-job"
  | "missing-workflow-input"
  | "never-runs"
  | "other-system"
  | "unavailable-context"
  | "unknown-event"
  | "unknown-needs"
  | "unknown-permission"
  | "unknown-using"
  | "unknown-workflow-input"
  | "unsafe-path";

/** A diagnostic of a manifest or a workflow. */
export type GithubDiagnostic = Diagnostic<GithubCode | SourceCode>;

/** Gathers what is to be said about a file: in words of its own, and in those of all languages. */
export type GithubReport = Report<GithubCode, GithubDiagnostic["code"]>;

/** The meaning of each code, and the help that goes with it. */
export const GITHUB_RULES: Readonly<Record<GithubCode, DiagnosticRule>> = {
  "ambiguous-job": {
    title: "Several jobs could be meant",
    help: "Name one instance of the matrix in full, as in `test (ubuntu, 20)`. The hint has them.",
  },
  "changed-number": {
    title: "GitHub changes the text of a number",
    help: "YAML makes `1.10` the number 1.1, and 1.1 is what the action gets. Quote it.",
  },
  "circular-needs": {
    title: "Jobs wait for each other",
    help: "A job starts when those that it needs have ended. Take one `needs` of the circle away.",
  },
  "constant-condition": {
    title: "The condition is always true",
    help: "Text beside `${{ }}`, even a line break, makes the condition a text, and a text that is not empty is true. Put all of it into one `${{ }}`, or leave the delimiters out.",
  },
  "expression-in-text": {
    title: "An expression where GitHub takes none",
    help: "GitHub refuses the file for it; here it is plain text. Leave the delimiters out.",
  },
  "incomplete-manifest": {
    title: "The manifest leaves something out",
    help: "The runner does not ask for it, but GitHub's documentation and marketplace do.",
  },
  "invalid-call": {
    title: "The call of a workflow is malformed",
    help: "`uses` of a job names a workflow that has `workflow_call` among its events; `with` and `secrets` give what it declares.",
  },
  "invalid-cron": {
    title: "The time of a schedule is malformed",
    help: "Five fields: minute, hour, day of the month, month, day of the week; numbers, names, `*`, ranges, lists and steps, as in `*/15 8-17 * * MON-FRI`.",
  },
  "invalid-image": {
    title: "The image of an action is none",
    help: "Write `docker://IMAGE`, or the path of a file named `Dockerfile`, `Dockerfile.*` or `*Dockerfile`.",
  },
  "invalid-manifest": {
    title: "The file is no action",
    help: "An `action.yml` is one mapping with the key `runs`.",
  },
  "invalid-matrix": {
    title: "The matrix is malformed",
    help: "Each key has a list of values; `include` and `exclude` are lists of mappings; it gives 1 to 256 jobs.",
  },
  "invalid-workflow": {
    title: "The file is no workflow",
    help: "A workflow is one mapping with the keys `on` and `jobs`.",
  },
  "key-not-honoured": {
    title: "A key has no effect here",
    help: "GitHub would do something that a single job on this machine does not. The message says what happens instead.",
  },
  "key-of-other-kind": {
    title: "The key belongs to actions of another kind",
    help: "Which keys `runs` takes depends on `using`. Remove the key, or change `using`.",
  },
  "missing-job": { title: "There is no such job", help: "The hint has the nearest, or those that there are." },
  "missing-workflow-input": {
    title: "A required input of the workflow is not given",
    help: "It is empty. GitHub would ask for it. Give it with `--input NAME=VALUE`, or in `inputs` of an event file.",
  },
  "never-runs": {
    title: "A job is never run",
    help: "Its `if` does not hold, whatever happens. `local` does not run it either, unless `--ignore-if` says so.",
  },
  "other-system": {
    title: "The job asks for another operating system",
    help: "It runs on this machine, whatever `runs-on` says.",
  },
  "unavailable-context": {
    title: "An expression reads what is not there",
    help: "The context exists, but not at this key, so it is null. See the table of contexts in GitHub's documentation.",
  },
  "unknown-event": {
    title: "GitHub has no such event",
    help: "The workflow is not started by it. See GitHub's list of events that trigger workflows.",
  },
  "unknown-needs": {
    title: "A value depends on jobs that are not run",
    help: "One job is run here, without those that it needs. A matrix of their outputs is none, a name is the job's id, a time limit is not set.",
  },
  "unknown-permission": {
    title: "GitHub has no such permission",
    help: "See GitHub's list of permissions for `GITHUB_TOKEN`.",
  },
  "unknown-using": {
    title: "An unknown kind of action",
    help: "`using` is `composite`, `docker` or `nodeNN`.",
  },
  "unknown-workflow-input": {
    title: "The workflow does not take the input",
    help: "Declare it under `on.workflow_dispatch.inputs`, or do not give it.",
  },
  "unsafe-path": {
    title: "A path that cannot be in the repository",
    help: "Files of an action are named from the folder of its manifest.",
  },
};
