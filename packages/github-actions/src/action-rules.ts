import type { DiagnosticRule } from "@steps/model";

/** The codes of diagnostics that only files of GitHub Actions have; those of the compiler come besides. */
export type GithubCode =
  | "ambiguous-job"
  | "changed-number"
  | "constant-condition"
  | "expression-in-text"
  | "incomplete-manifest"
  | "invalid-image"
  | "invalid-manifest"
  | "invalid-matrix"
  | "invalid-workflow"
  | "key-not-honoured"
  | "key-of-other-kind"
  | "missing-job"
  | "missing-workflow-input"
  | "other-system"
  | "unavailable-context"
  | "unknown-using"
  | "unknown-workflow-input"
  | "unsafe-path";

/** What each code means and what to do about it. */
export const GITHUB_RULES: Readonly<Record<GithubCode, DiagnosticRule>> = {
  "ambiguous-job": {
    title: "Several jobs could be meant",
    help: "Name one instance of the matrix in full, as in `test (ubuntu, 20)`. The hint has them.",
  },
  "changed-number": {
    title: "GitHub changes the text of a number",
    help: "YAML makes `1.10` the number 1.1, and 1.1 is what the action gets. Quote it.",
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
  "missing-job": { title: "There is no such job", help: "The hint has those that there are." },
  "missing-workflow-input": {
    title: "A required input of the workflow is not given",
    help: "It is empty. GitHub would ask for it.",
  },
  "other-system": {
    title: "The job asks for another operating system",
    help: "It runs on this machine, whatever `runs-on` says.",
  },
  "unavailable-context": {
    title: "An expression reads what is not there",
    help: "The context exists, but not at this key, so it is null. See the table of contexts in GitHub's documentation.",
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
