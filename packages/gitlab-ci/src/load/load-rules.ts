import type { DiagnosticRule } from "@steps/model/diagnostic";

/** The codes of diagnostics that tell why files cannot be put together to one configuration. */
export type LoadCode =
  | "circular-extends"
  | "circular-inputs"
  | "circular-reference"
  | "configuration-too-large"
  | "include-cycle"
  | "include-failed"
  | "invalid-header"
  | "invalid-include"
  | "invalid-interpolation"
  | "invalid-parallel"
  | "invalid-pipeline-input"
  | "missing-pipeline-input"
  | "too-many-includes"
  | "unknown-needed-job"
  | "unknown-parent"
  | "unknown-pipeline-input"
  | "unknown-stage"
  | "unresolved-reference";

/** The meaning of each code, and advice on what to do. */
export const LOAD_RULES: Readonly<Record<LoadCode, DiagnosticRule>> = {
  "circular-extends": {
    title: "Jobs extend one another in a circle",
    help: "The message names the circle. Move what the jobs share to a hidden job.",
  },
  "circular-inputs": {
    title: "The rules of inputs depend on one another in a circle",
    help: "A rule of an input may ask only for inputs that do not depend on it.",
  },
  "circular-reference": {
    title: "A reference leads back to itself",
    help: "`!reference` names a value that holds the same reference. Name the part that does not.",
  },
  "configuration-too-large": {
    title: "The configuration is too large",
    help: "Put together, the files, references, inputs and instances of jobs are more than is read.",
  },
  "include-cycle": {
    title: "A file includes itself",
    help: "The file is included again, with the same inputs, by what it includes. Remove one of the two includes.",
  },
  "include-failed": {
    title: "A file cannot be included",
    help: "The message says why the file cannot be read. Without it the configuration is not what its author meant.",
  },
  "invalid-header": {
    title: "The header of inputs is malformed",
    help: "A header is a document of its own with `spec`, which may have `inputs`, `include` and `component`.",
  },
  "invalid-include": {
    title: "An include is malformed",
    help: "It is a text, or a mapping with one of `local`, `project`, `remote`, `template` and `component`.",
  },
  "invalid-interpolation": {
    title: "A `$[[ ]]` cannot be replaced",
    help: "It names an input of the file's header, with at most three functions: `$[[ inputs.name | expand_vars ]]`.",
  },
  "invalid-parallel": {
    title: "The instances of a job cannot be made",
    help: "`parallel` is a number from 1 to 200, or a `matrix` with at most 200 combinations of different names.",
  },
  "invalid-pipeline-input": {
    title: "An input has a value that it does not take",
    help: "The message says what the header of the file wants: a type, an option, or a pattern.",
  },
  "missing-pipeline-input": {
    title: "An input has no value",
    help: "The header of the file declares it without a default. Give it in `inputs` of the include.",
  },
  "too-many-includes": {
    title: "Too many files are included",
    help: "GitLab takes 150 for a pipeline; a file that is included twice counts twice.",
  },
  "unknown-needed-job": {
    title: "There is no job of that name to wait for",
    help: "`needs` and `dependencies` name jobs of the pipeline. `optional: true` lets a needed job be absent.",
  },
  "unknown-parent": {
    title: "There is nothing of that name to extend",
    help: "`extends` names a job, hidden or not, of any of the files.",
  },
  "unknown-pipeline-input": {
    title: "There is no such input",
    help: "The header of the file does not declare it.",
  },
  "unknown-stage": {
    title: "There is no such stage",
    help: "Add it to `stages`. Without that list there are build, test and deploy.",
  },
  "unresolved-reference": {
    title: "A reference leads nowhere",
    help: "`!reference` is a list of names that lead from the top of the configuration to a value.",
  },
};
