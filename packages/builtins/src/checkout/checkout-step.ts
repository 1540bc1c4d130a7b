import type { InputSpec, OutputSpec, SpecDefinition } from "@steps/model/definition";

/** The name by which the runner's own program does what `actions/checkout` does. */
export const CHECKOUT_PROGRAM = "actions/checkout";

const INPUTS: readonly string[] = [
  "repository",
  "ref",
  "token",
  "ssh-key",
  "ssh-known-hosts",
  "ssh-strict",
  "ssh-user",
  "persist-credentials",
  "path",
  "clean",
  "filter",
  "sparse-checkout",
  "sparse-checkout-cone-mode",
  "fetch-depth",
  "fetch-tags",
  "show-progress",
  "lfs",
  "submodules",
  "set-safe-directory",
  "github-server-url",
];

const OUTPUTS: readonly (readonly [name: string, description: string])[] = [
  ["ref", "The branch, tag or commit that was asked for"],
  ["commit", "The commit that is checked out"],
];

/** `actions/checkout` of the job's own project, whose tree is there already. Inputs that nobody gives are empty. */
export const checkoutStep: SpecDefinition = {
  spec: {
    inputs: Object.fromEntries(
      INPUTS.map((name): [string, InputSpec] => [
        name,
        { type: "string", isSensitive: name === "token" || name === "ssh-key" },
      ]),
    ),
    outputs: Object.fromEntries(
      OUTPUTS.map(([name, description]): [string, OutputSpec] => [
        name,
        { type: "string", default: "", isSensitive: false, description },
      ]),
    ),
    hasOpenOutputs: true,
  },
  definition: {
    type: "exec",
    command: ["step-runner", "builtin", CHECKOUT_PROGRAM],
    // Job variables that the program is told, and which of them are secrets: the address of the repository holds a token.
    env: { CI_COMMIT_SHA: "", CI_JOB_TOKEN: "secret", CI_REPOSITORY_URL: "secret" },
    github: { using: "native", post: CHECKOUT_PROGRAM },
  },
};
