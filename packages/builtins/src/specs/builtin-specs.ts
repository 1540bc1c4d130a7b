import type { Spec, SpecDefinition } from "@steps/model/definition";
import { GITLAB_SPECS } from "./gitlab-specs.ts";
import { flag, optional, output, struct, text } from "./spec-fields.ts";

/** The specs of `builtin://NAME` for all that the runner's own program runs. */
const SPECS: Readonly<Record<string, Spec>> = {
  "docker/auth": {
    inputs: {
      registry: text("The registry that the credentials are for: registry.example.com"),
      username: text("Its user"),
      password: { ...text("The password or token of the user"), isSensitive: true },
    },
    outputs: {},
  },
  "function/oci/build": {
    inputs: {
      version: text("The semantic version: 1.2.3"),
      common: struct("Files of every platform: {files: {DESTINATION: SOURCE}}"),
      platforms: struct("Files by platform: {linux/amd64: {files: {DESTINATION: SOURCE}}}"),
      labels: struct("Annotations of the image"),
      archive: { ...text("Where the image is written"), default: "function-image.tar" },
    },
    outputs: { archive: output("string"), version: output("string"), digest: output("string") },
  },
  "function/oci/publish": {
    inputs: {
      archive: { ...text("What function/oci/build wrote"), default: "function-image.tar" },
      to_repository: text("REGISTRY/REPOSITORY"),
    },
    outputs: { ref: output("string"), digest: output("string"), tags: output("array") },
  },
  // As GitLab's runner writes it for jobs with `script:`, with FF_SCRIPT_TO_STEP_MIGRATION.
  script_legacy: {
    inputs: {
      script: { type: "array", isSensitive: false, description: "The lines of the script, run by one shell" },
      debug_trace: flag("Print each command before it is run, expanded"),
      check_for_errors: flag("Look at the status after each line too"),
      posix_escape: flag("Accepted; what is printed is quoted for every shell"),
      trace_sections: flag("Lines of several lines are sections of the log that can be folded"),
    },
    outputs: {},
  },
  ...GITLAB_SPECS,
  "step/oci/build": {
    inputs: {
      image: optional("REGISTRY/REPOSITORY:TAG; the tag must not be there yet"),
      registry: optional("The registry to publish to, in place of image"),
      repository: optional("The repository in it"),
      tag: optional("The tag"),
      common: struct("Files of every platform: {files: {SOURCE: DESTINATION}}"),
      platforms: struct("Files by platform: {linux/amd64: {files: {SOURCE: DESTINATION}}}"),
    },
    outputs: {
      registry: output("string"),
      repository: output("string"),
      tag: output("string"),
      image: output("string"),
      ref: output("string"),
      digest: output("struct"),
    },
  },
  "step/oci/fetch": {
    inputs: {
      registry: text("The registry"),
      repository: text("The repository in it"),
      tag: text("The tag, or a digest"),
      step_path: optional("The folder of the step in the image"),
    },
    outputs: { fetched_step_path: output("string"), ref: output("string") },
  },
  "step/oci/promote": {
    inputs: {
      from_image: text("REGISTRY/REPOSITORY:TAG, or @DIGEST"),
      to_image: optional("REGISTRY/REPOSITORY, or with the version as its tag"),
      to_registry: optional("The registry, in place of to_image"),
      to_repository: optional("The repository in it"),
      to_version: optional("The version: 1.2.3; without it the tag of from_image"),
    },
    outputs: { ref: output("string"), digest: output("string"), tags: output("array") },
  },
};

/**
 * The variable in which `script_legacy` finds all job variables as JSON; its processes get them as their environment.
 */
export const VARIABLES_VARIABLE = "STEP_INPUT_VARIABLES";

/** The variable in which the steps that ask for the job's `CI_` variables find all job variables as JSON. */
export const JOB_VARIABLE = "STEP_JOB_VARIABLES";

const KNOWS_JOB: ReadonlySet<string> = new Set(["gitlab/checkout", "gitlab/prepare"]);

/** The names of the built-in steps. */
export const BUILTIN_NAMES: readonly string[] = ["script", "gitlab/script", ...Object.keys(SPECS)];

/** The variable in which the program of a built-in step gets an input. No other user of the machine can read it there. */
export function inputVariable(name: string): string {
  return `STEP_INPUT_${name.toUpperCase()}`;
}

/**
 * The built-in step of this name, but `script` and `gitlab/script`. Its command is beside it in `step_dir`, so that the definition is the
 * same on every machine.
 */
export function builtinStep(name: string): SpecDefinition | undefined {
  const spec = Object.hasOwn(SPECS, name) ? SPECS[name] : undefined;
  if (spec === undefined) return undefined;
  const inputs = Object.entries(spec.inputs).map(([input, { type }]) => {
    const value = type === "string" ? `inputs.${input}` : `toJson(inputs.${input})`;
    return [inputVariable(input), `\${{ ${value} }}`];
  });
  const files = { STEP_OUTPUT_FILE: "${{ output_file }}", STEP_EXPORT_FILE: "${{ export_file }}" };
  const variables: Record<string, string> =
    name === "script_legacy"
      ? { [VARIABLES_VARIABLE]: "${{ toJson(vars) }}" }
      : KNOWS_JOB.has(name)
        ? { [JOB_VARIABLE]: "${{ toJson(vars) }}" }
        : {};
  const env = { ...(Object.fromEntries(inputs) as Record<string, string>), ...variables, ...files };
  return { spec, definition: { type: "exec", command: ["${{ step_dir }}/step-runner", "builtin", name], env } };
}
