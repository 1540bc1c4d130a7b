import type {
  Definition_ExecJson,
  DefinitionJson,
  Spec_Content_InputJson,
  Spec_Content_OutputJson,
  Spec_Content_SecretJson,
  SpecDefinitionJson,
  SpecJson,
  Step_ReferenceJson,
  StepJson,
} from "../gen/step-json.ts";
import {
  type Definition,
  emptySpec,
  type ExecDefinition,
  type InputSpec,
  type OutputSpec,
  type SecretSpec,
  type Spec,
  type SpecDefinition,
  type StepInvocation,
  type StepReference,
} from "./definition.ts";
import { StepsError } from "../error.ts";
import { isNamed, kindOf } from "../reference/kinds.ts";
import { parseReference, isReferenceProblem } from "../reference/reference.ts";
import { decodeGithubInvocation, decodeGithubPart, encodeGithubInvocation, encodeGithubPart } from "./github.ts";
import { decodeControl, decodeDuration, encodeControl, encodeDuration } from "./control.ts";
import { createObject, mapObject } from "../value/value.ts";

/** A baseline message that does not say what a step needs. */
export class BaselineError extends StepsError<"BASELINE_INVALID"> {}

/**
 * The baseline message of a spec and a definition in protobuf's JSON form, as protobuf itself would write it: what has
 * its type's default is left out. Credentials are left out of URLs.
 *
 * The message has no place for `isRaw` and `hasOpenOutputs`, which only matter to the file they were written in.
 */
export function encodeSpecDefinition(specDefinition: SpecDefinition): SpecDefinitionJson {
  if (last?.specDefinition !== specDefinition) {
    const json = { spec: encodeSpec(specDefinition.spec), definition: encodeDefinition(specDefinition.definition) };
    last = { specDefinition, json };
  }
  return last.json;
}

// Whoever digests a definition and whoever tells of it ask one after the other, and neither changes the answer.
let last: { readonly specDefinition: SpecDefinition; readonly json: SpecDefinitionJson } | undefined;

/** The way back from `encodeSpecDefinition()`. @throws {BaselineError} */
export function decodeSpecDefinition(json: SpecDefinitionJson): SpecDefinition {
  if (!json.definition) throw new BaselineError("BASELINE_INVALID", "Cannot read baseline: definition is missing");
  return { spec: decodeSpec(json.spec ?? {}), definition: decodeDefinition(json.definition) };
}

export function encodeSpec(spec: Spec): SpecJson {
  const isDelegate = spec.outputs === "delegate";
  const outputs =
    spec.outputs === "delegate" ? {} : mapObject(spec.outputs, encodePort<OutputSpec, Spec_Content_OutputJson>);
  return {
    spec: {
      ...optional("inputs", mapObject(spec.inputs, encodePort<InputSpec, Spec_Content_InputJson>)),
      ...optional("outputs", outputs),
      outputMethod: isDelegate ? "delegate" : "outputs",
      ...optional("secrets", mapObject(spec.secrets ?? {}, encodeSecret)),
      ...(spec.description ? { description: spec.description } : {}),
    },
  };
}

function encodeSecret({ description, permissions, as, env, isRequired }: SecretSpec): Spec_Content_SecretJson {
  return {
    ...(description ? { description } : {}),
    ...(permissions.length === 0 ? {} : { permissions: [...permissions] }),
    ...(as === "file" ? { file: true } : {}),
    env,
    ...(isRequired ? {} : { optional: true }),
  };
}

function decodeSecret(json: Spec_Content_SecretJson, name: string): SecretSpec {
  return {
    ...(json.description ? { description: json.description } : {}),
    permissions: json.permissions ?? [],
    as: json.file === true ? "file" : "env",
    env: json.env || name.toUpperCase(),
    isRequired: json.optional !== true,
  };
}

function encodePort<Port extends InputSpec | OutputSpec, Json>(port: Port): Json {
  const match = "match" in port ? port.match : undefined;
  const options = "options" in port ? port.options : undefined;
  return {
    type: port.type,
    ...(port.default === undefined ? {} : { default: port.default }),
    ...(port.isSensitive ? { sensitive: true } : {}),
    ...(port.description ? { description: port.description } : {}),
    ...(options && options.length > 0 ? { options } : {}),
    ...(match ? { match } : {}),
  } as Json;
}

function decodeSpec(json: SpecJson): Spec {
  const content = json.spec;
  if (!content) return emptySpec;
  const inputs = mapObject(content.inputs ?? {}, (input) => ({
    ...decodePort(input),
    ...(input.options && input.options.length > 0 ? { options: input.options } : {}),
    ...(input.match === undefined || input.match === "" ? {} : { match: input.match }),
  }));
  const isDelegate = content.outputMethod === "delegate";
  return {
    inputs,
    outputs: isDelegate ? "delegate" : mapObject(content.outputs ?? {}, decodePort),
    secrets: content.secrets && mapObject(content.secrets, decodeSecret),
    ...(content.description ? { description: content.description } : {}),
  };
}

function decodePort(json: Spec_Content_OutputJson): OutputSpec {
  return {
    type: json.type === undefined || json.type === "value_type_unspecified" ? "string" : json.type,
    default: json.default,
    isSensitive: json.sensitive === true,
    ...(json.description === undefined || json.description === "" ? {} : { description: json.description }),
  };
}

export function encodeDefinition(definition: Definition): DefinitionJson {
  const json: DefinitionJson = { type: definition.type };
  if (definition.type === "exec") json.exec = encodeExec(definition);
  else {
    if (definition.steps.length > 0) json.steps = definition.steps.map(encodeInvocation);
    if (isFilled(definition.outputs)) json.outputs = definition.outputs;
  }
  if (isFilled(definition.env)) json.env = definition.env;
  if (definition.type === "steps") {
    if (definition.delegate) json.delegate = definition.delegate;
    if (definition.finally && definition.finally.length > 0) json.finally = definition.finally.map(encodeInvocation);
    if (definition.isParallel === true) json.parallel = true;
  }
  const { inheritEnv, github } = definition;
  if (inheritEnv !== undefined) json.inheritEnv = inheritEnv.length === 0 ? {} : { names: [...inheritEnv] };
  if (github !== undefined) json.github = encodeGithubPart(github);
  return json;
}

function encodeExec(definition: ExecDefinition): Definition_ExecJson {
  const { command, workDir, timeoutMs, cancelTimeoutMs, hasContextFile } = definition;
  const json: Definition_ExecJson = { command: [...command] };
  if (workDir) json.workDir = workDir;
  if (timeoutMs) Object.assign(json, encodeDuration("timeout", timeoutMs));
  if (cancelTimeoutMs) Object.assign(json, encodeDuration("cancelTimeout", cancelTimeoutMs));
  if (hasContextFile === true) json.contextFile = true;
  return json;
}

function decodeDefinition(json: DefinitionJson): Definition {
  const env = mapObject(json.env ?? {}, String);
  const type =
    json.type === "exec" || json.type === "steps" ? json.type : json.exec ? "exec" : json.steps ? "steps" : undefined;
  if (type === "exec") {
    const command = json.exec?.command ?? [];
    if (command.length === 0)
      throw new BaselineError("BASELINE_INVALID", "Cannot read baseline: exec.command is empty");
    const workDir = json.exec?.workDir;
    return {
      type,
      command,
      env,
      ...(workDir === undefined || workDir === "" ? {} : { workDir }),
      ...decodeDuration("timeoutMs", json.exec?.timeout),
      ...decodeDuration("cancelTimeoutMs", json.exec?.cancelTimeout),
      ...(json.exec?.contextFile === true ? { hasContextFile: true } : {}),
      inheritEnv: json.inheritEnv && (json.inheritEnv.names ?? []),
      github: json.github && decodeGithubPart(json.github),
    };
  }
  if (type === undefined) throw new BaselineError("BASELINE_INVALID", "Cannot read baseline: definition has no type");
  return {
    type,
    steps: (json.steps ?? []).map(decodeInvocation),
    env,
    outputs: mapObject(json.outputs ?? {}, (value) => value),
    ...(json.delegate === undefined || json.delegate === "" ? {} : { delegate: json.delegate }),
    ...(json.finally && json.finally.length > 0 ? { finally: json.finally.map(decodeInvocation) } : {}),
    ...(json.parallel === true ? { isParallel: true } : {}),
    inheritEnv: json.inheritEnv && (json.inheritEnv.names ?? []),
    github: json.github && decodeGithubPart(json.github),
  };
}

// Lists have thousands of them: members are set one by one, as spreads take several times as long.
export function encodeInvocation(invocation: StepInvocation): StepJson {
  const { name, step, env, inputs, secrets, control, github } = invocation;
  const json: StepJson = {};
  if (name !== "") json.name = name;
  json.step = encodeReference(step);
  if (isFilled(env)) json.env = env;
  if (isFilled(inputs)) json.inputs = inputs;
  if (secrets !== undefined && isFilled(secrets)) json.secrets = secrets;
  if (control !== undefined) json.control = encodeControl(control);
  if (github !== undefined) json.github = encodeGithubInvocation(github);
  return json;
}

function decodeInvocation(json: StepJson): StepInvocation {
  if (!json.step)
    throw new BaselineError("BASELINE_INVALID", `Cannot read baseline: step "${json.name ?? ""}" has no reference`);
  return {
    name: json.name ?? "",
    step: decodeReference(json.step),
    env: mapObject(json.env ?? {}, String),
    inputs: mapObject(json.inputs ?? {}, (value) => value),
    secrets: json.secrets && mapObject(json.secrets, String),
    control: json.control && decodeControl(json.control),
    github: json.github && decodeGithubInvocation(json.github),
  };
}

/** The baseline message of a reference. Credentials are left out of URLs. */
export function encodeReference(reference: StepReference): Step_ReferenceJson {
  if (reference.kind === "dynamic") return { protocol: "dynamic", pathExp: reference.text };
  if (reference.kind !== "inline") return { protocol: reference.kind, ...kindOf(reference).encode(reference) };
  const { specDefinition, seesCallerInputs } = reference;
  // Without a spec the definition is an anonymous list item, which sees its caller's inputs.
  const specDef = seesCallerInputs
    ? { definition: encodeDefinition(specDefinition.definition) }
    : encodeSpecDefinition(specDefinition);
  return { protocol: "spec_def", specDef };
}

/** The way back from `encodeReference()`. @throws {BaselineError} */
export function decodeReference(json: Step_ReferenceJson): StepReference {
  const { protocol = "" } = json;
  if (protocol === "dynamic") return { kind: "dynamic", text: json.pathExp ?? "" };
  if (protocol === "spec_def") return decodeInline(json);
  const named = { kind: protocol };
  if (!isNamed(named)) return decodeShort(json);
  const dir = (json.paths?.parts ?? json.path ?? []).join("/");
  const decoded = kindOf(named).decode(json, { dir, file: json.filename || undefined });
  if ("message" in decoded) throw new BaselineError("BASELINE_INVALID", `Cannot read baseline: ${decoded.message}`);
  return decoded;
}

function decodeInline({ specDef }: Step_ReferenceJson): StepReference {
  if (!specDef) throw new BaselineError("BASELINE_INVALID", "Cannot read baseline: inline definition is missing");
  const specDefinition = decodeSpecDefinition(specDef);
  return { kind: "inline", specDefinition, seesCallerInputs: specDef.spec === undefined };
}

// The blueprint's baseline has the reference as one text.
function decodeShort(json: Step_ReferenceJson): StepReference {
  const parsed = typeof json.url === "string" && json.url !== "" ? parseReference(json.url) : undefined;
  if (!parsed || isReferenceProblem(parsed)) {
    throw new BaselineError("BASELINE_INVALID", `Cannot read baseline: unknown protocol "${String(json.protocol)}"`);
  }
  return parsed;
}

function optional<Key extends string, T extends object>(key: Key, value: T): { [K in Key]?: T } {
  return (isFilled(value) ? { [key]: value } : createObject()) as { [K in Key]?: T };
}

function isFilled(record: object): boolean {
  for (const _key in record) return true;
  return false;
}
