import { appendFileSync } from "node:fs";
import { encodeOutput } from "@steps/executor";
import type { Value } from "@steps/model";
import { mergeDockerAuth } from "./docker-auth.ts";
import type { BuiltinPlace, Inputs, Outputs } from "./images/builtin-images.ts";
import type { GitlabProgram, GitlabResult } from "./gitlab/gitlab-step.ts";
import { builtinStep, inputVariable, JOB_VARIABLE } from "./specs/builtin-specs.ts";
import { CHECKOUT_PROGRAM } from "./checkout/checkout-step.ts";
import { BuiltinError } from "./builtin-error.ts";

/**
 * Does what a built-in step does, as the process of that step: inputs are in its environment, outputs and exports go to
 * the files that the environment names.
 *
 * @throws {BuiltinError} STEP_NOT_FOUND, BUILTIN_FAILED @throws {StepsError} of what it does
 */
export async function runBuiltin(name: string, place: BuiltinPlace): Promise<void> {
  if (name === CHECKOUT_PROGRAM) {
    const { runCheckoutProgram } = await import("./checkout/run-checkout-program.ts");
    return runCheckoutProgram(place);
  }
  const step = builtinStep(name);
  if (step === undefined) throw new BuiltinError("STEP_NOT_FOUND", `distributed step "${name}" not found`);
  const inputs: Record<string, Value> = {};
  const ownEnv = { ...place.env };
  for (const [input, { type }] of Object.entries(step.spec.inputs)) {
    const variable = inputVariable(input);
    inputs[input] = readInput(place.env[variable], variable, type !== "string");
    // A credential helper has no business with the inputs.
    delete ownEnv[variable];
  }
  const own = { ...place, env: ownEnv };
  if (name === "docker/auth") {
    const { registry, username, password } = inputs as Record<string, string>;
    const entry = { registry: registry ?? "", username: username ?? "", password: password ?? "" };
    const merged = mergeDockerAuth(place.env["DOCKER_AUTH_CONFIG"], entry);
    write(place, "STEP_EXPORT_FILE", { DOCKER_AUTH_CONFIG: merged });
    place.log(`added credentials for ${entry.registry}`);
    return;
  }
  if (name === "script_legacy") {
    const { becomeScript } = await import("./script-legacy.ts");
    return becomeScript(inputs, own.env);
  }
  if (name.startsWith(GITLAB_PREFIX)) {
    const { outputs, exports = {} } = await runGitlab(name.slice(GITLAB_PREFIX.length), inputs, {
      ...own,
      env: withJobVariables(ownEnv),
    });
    write(place, "STEP_OUTPUT_FILE", outputs);
    for (const [variable, { value, isSensitive }] of Object.entries(exports))
      append(place, "STEP_EXPORT_FILE", encodeOutput(variable, value, { isSensitive }));
    return;
  }
  write(place, "STEP_OUTPUT_FILE", await runImages(name, inputs, own));
}

const GITLAB_PREFIX = "gitlab/";

// Each program with what it needs is loaded when it is run.
const GITLAB: Readonly<Record<string, () => Promise<GitlabProgram>>> = {
  "artifacts-download": async () => (await import("./gitlab/artifacts/artifacts-download.ts")).downloadArtifacts,
  "artifacts-upload": async () => (await import("./gitlab/artifacts/artifacts-upload.ts")).uploadArtifacts,
  "cache-restore": async () => (await import("./gitlab/cache/cache-restore.ts")).restoreCaches,
  "cache-save": async () => (await import("./gitlab/cache/cache-save.ts")).saveCaches,
  checkout: async () => (await import("./gitlab/sources/get-sources.ts")).getSources,
  cleanup: async () => (await import("./gitlab/prepare/cleanup.ts")).cleanUpJob,
  prepare: async () => (await import("./gitlab/prepare/prepare.ts")).prepareJob,
  release: async () => (await import("./gitlab/release/release.ts")).recordRelease,
  "report-dotenv": async () => (await import("./gitlab/artifacts/report-dotenv.ts")).reportDotenv,
};

async function runGitlab(name: string, inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const program = await GITLAB[name]?.();
  if (program === undefined) throw new BuiltinError("STEP_NOT_FOUND", `distributed step "gitlab/${name}" not found`);
  return await program(inputs, place);
}

/** The environment with the variables by which GitLab tells a job about itself. */
function withJobVariables({ [JOB_VARIABLE]: text = "{}", ...env }: BuiltinPlace["env"]): BuiltinPlace["env"] {
  const variables = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const told = variables.flatMap(([name, value]): [string, string][] =>
    /^(?:CI|GITLAB)_/.test(name) && typeof value === "string" ? [[name, value]] : [],
  );
  return { ...Object.fromEntries(told), ...env };
}

async function runImages(name: string, inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  if (name === "step/oci/fetch" || name === "step/oci/promote") {
    const { fetchImage, promote } = await import("./images/builtin-registry.ts");
    return await (name === "step/oci/fetch" ? fetchImage : promote)(inputs, place);
  }
  const { buildAndPush, buildFunction, publishFunction } = await import("./images/builtin-images.ts");
  const run = { "function/oci/build": buildFunction, "function/oci/publish": publishFunction }[name] ?? buildAndPush;
  return await run(inputs, place);
}

function readInput(text: string | undefined, variable: string, isJson: boolean): Value {
  if (text === undefined) {
    throw new BuiltinError("BUILTIN_FAILED", `Cannot run built-in step: ${variable} is not set`, {
      hint: "This command is for the runner: write step: builtin://NAME.",
    });
  }
  return isJson ? (JSON.parse(text) as Value) : text;
}

function write(place: BuiltinPlace, variable: string, values: Readonly<Record<string, Value>>): void {
  for (const [name, value] of Object.entries(values)) {
    const isText = typeof value === "string";
    append(place, variable, encodeOutput(name, isText ? value : JSON.stringify(value), { isJson: !isText }));
  }
}

function append(place: BuiltinPlace, variable: string, line: string): void {
  const file = place.env[variable];
  if (file === undefined) throw new BuiltinError("BUILTIN_FAILED", `Cannot run built-in step: ${variable} is not set`);
  appendFileSync(file, line);
}
