import { toJson } from "@bufbuild/protobuf";
import { type Duration, ValueSchema } from "@bufbuild/protobuf/wkt";
import { secretVariableNames } from "@steps/engine/environment";
import { createObject, mapObject, type RuntimeString, type RuntimeValue, sensitive, type Value } from "@steps/model";
import type { Spec } from "@steps/model/definition";
import { digestOf } from "@steps/platform";
import { StepSchema } from "@steps/proto";
import { type RunRequest, RunRequest_StepType, RunRequestSchema } from "@steps/proto/service";
import type { JobSubmission, JobVariable } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { assertTextLength, compileDefinition } from "./compile-definition.ts";
import { assertEnvironment, readWorkDir } from "./read-environment.ts";

/**
 * A job from a `steps.v1` request that obeys the rules of its schema. `workDir` is where a job runs that does not say.
 *
 * @throws {ServiceError} REQUEST_INVALID
 */
export async function readRunRequest(
  request: RunRequest,
  workDir: string,
): Promise<Omit<JobSubmission, "tokenDigest">> {
  for (const name of ["definition", "ciScript"] as const) assertTextLength(TEXT_NAMES[name], request[name]);
  const requestDigest = digestRequest(request);
  assertEnvironment("env", request.env);
  const variables = request.variables.map(readVariable);
  const { maskedValues } = request;
  const grants = mapObject(request.secrets, (value) => sensitive(value) as RuntimeString);
  const masked = variables.filter(({ isMasked }) => isMasked).map(({ value }) => value);
  const source = definitionOf(request);
  const compiled = await compileDefinition(source, [...maskedValues, ...Object.values(request.secrets), ...masked]);
  const timeoutMs = readDuration("timeout", request.timeout);
  return {
    id: request.id,
    requestDigest,
    refusesOtherRequest: true,
    job: {
      name: request.jobName === "" ? undefined : request.jobName,
      source: source.name,
      ...compiled,
      inputs: readInputs(request, compiled.specDefinition.spec),
      env: request.env,
      grants: Object.keys(grants).length === 0 ? undefined : grants,
      maskedValues,
      workDir: readWorkDir(request.workDir, workDir),
    },
    variables,
    tokenPrefixes: request.tokenMaskPrefixes,
    notes: request.notes.map(readNote),
    sections: request.sections,
    timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
    graceMs: readDuration("grace", request.grace),
  };
}

const TEXT_NAMES = { definition: "definition", ciScript: "ci_script" } as const;

/** SHA-256 over the canonical JSON of a request. @throws {ServiceError} REQUEST_INVALID for what JSON cannot hold */
function digestRequest(request: RunRequest): string {
  try {
    return digestOf(toJson(RunRequestSchema, request));
  } catch (cause) {
    throw new ServiceError("REQUEST_INVALID", "The request holds a value that has no JSON form", { cause });
  }
}

const TYPES: ReadonlyMap<number, string> = new Map([
  [RunRequest_StepType.step, "steps"],
  [RunRequest_StepType.script, "ci_script"],
]);

// Exactly one says what to run, and the type, if there is one, says the same.
function definitionOf(request: RunRequest): { readonly name: string; readonly text: string } {
  const given = [
    ...(request.steps.length === 0 ? [] : ["steps"]),
    ...(request.ciScript === "" ? [] : ["ci_script"]),
    ...(request.definition === "" ? [] : ["definition"]),
  ];
  const [kind] = given;
  if (kind === undefined || given.length > 1) {
    const found = kind === undefined ? "none of them" : given.join(" and ");
    throw new ServiceError("REQUEST_INVALID", `One of steps, ci_script and definition has to be given; found ${found}`);
  }
  const wanted = TYPES.get(request.type);
  if (wanted === undefined && request.type !== RunRequest_StepType.unknown)
    throw new ServiceError("REQUEST_INVALID", `type: there is no type ${request.type}`);
  if (wanted !== undefined && wanted !== kind && !(wanted === "steps" && kind === "definition"))
    throw new ServiceError("REQUEST_INVALID", `type: the request is of type ${wanted} and has ${kind}`);
  return { name: request.source === "" ? kind : request.source, text: textOf(request, kind) };
}

function textOf(request: RunRequest, kind: string): string {
  if (kind === "definition") return request.definition;
  if (kind === "ci_script") return JSON.stringify([{ name: "script", script: request.ciScript }]);
  const steps = request.steps.map((step) => toJson(StepSchema, step));
  return JSON.stringify({ spec: { spec: {} }, definition: { type: "steps", steps } }, null, 2);
}

function readVariable(variable: RunRequest["variables"][number]): JobVariable {
  const { key, value, file, masked } = variable;
  return { key, value, isFile: file, isMasked: masked || secretVariableNames([key]).length > 0 };
}

type Note = NonNullable<JobSubmission["notes"]>[number];

function readNote({ level, code, message }: RunRequest["notes"][number]): Note {
  // The schema allows no other level.
  return { level: level as Note["level"], code, message };
}

function readInputs(request: RunRequest, spec: Spec): Record<string, RuntimeValue> {
  const inputs = createObject<RuntimeValue>();
  for (const [name, message] of Object.entries(request.inputs)) {
    const value: Value = toJson(ValueSchema, message);
    const port = Object.hasOwn(spec.inputs, name) ? spec.inputs[name] : undefined;
    inputs[name] = port?.isSensitive === true ? sensitive(value) : value;
  }
  return inputs;
}

function readDuration(name: string, duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = Number(duration.seconds) * 1000 + Math.ceil(duration.nanos / 1_000_000);
  if (ms < 0) throw new ServiceError("REQUEST_INVALID", `${name}: a duration cannot be negative`);
  return ms;
}
