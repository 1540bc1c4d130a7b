import { type Definition, type Environment, type RuntimeString, type RuntimeValue } from "@steps/model";
import { runExec } from "./exec.ts";
import { expandEnv } from "./expand-env.ts";
import { createExpander } from "./expander.ts";
import { inheritEnvironment } from "./inherit-env.ts";
import type { Inputs } from "./inputs.ts";
import { type GrantedSecret, type Level, placesOf, scopeOf } from "./level.ts";
import { isScript, type OpenedStep } from "./resolve-reference.ts";
import { type Run, tell } from "./run.ts";
import { secretEnvironment } from "./secrets.ts";
import { withoutCredentials } from "./secret-reference.ts";
import { type RunStep, runSequence } from "./sequence.ts";
import type { StepEnd } from "./step-end.ts";

/** What a definition is carried out with. */
export interface DefinitionCall {
  readonly opened: Omit<OpenedStep, "reference"> & { readonly reference?: OpenedStep["reference"] };
  /** With defaults. */
  readonly inputs: Inputs;
  readonly invocation: { readonly inputs: Inputs; readonly env: Readonly<Record<string, RuntimeString>> };
  /** Outputs that the spec does not declare are accepted. */
  readonly hasOpenOutputs: boolean;
  /** For its children. */
  readonly runStep: RunStep;
}

/** Expands the definition's env, says what is going to be done, and does it. */
export async function runDefinition(run: Run, level: Level, call: DefinitionCall): Promise<StepEnd> {
  const { opened, inputs, invocation, hasOpenOutputs, runStep } = call;
  const { spec, definition } = opened.specDefinition;
  const isWorkflow = definition.type === "steps" && definition.github?.using === "job";
  const environment = environmentOf(run, level, definition);
  const expander = createExpander(run, () => scopeOf(run, level, { environment }), level);
  // The texts of a workflow are in GitHub's language.
  const definitionEnv = isWorkflow ? {} : expandEnv(expander, definition.env, "/definition");
  const inner: Level = { ...level, environment: environment.with(definitionEnv) };
  tell(run, {
    type: "step-planned",
    at: Date.now(),
    path: level.path,
    specDefinition: opened.specDefinition,
    definitionDigest: opened.definitionDigest,
    ...(opened.component === undefined ? {} : { component: opened.component }),
    subpath: opened.subpath,
    ...(opened.reference === undefined ? {} : { reference: withoutCredentials(opened.reference) }),
    inputs,
    invocation: { inputs: invocation.inputs, env: invocation.env },
    ...(level.granted.length === 0 ? {} : { secrets: valuesOf(level.granted) }),
    definitionEnv,
    places: placesOf(run, level),
  });
  if (isWorkflow) {
    const { runWorkflowJob } = await import("./actions/workflow-job.ts");
    return runWorkflowJob(run, inner, definition);
  }
  if (definition.type === "exec") {
    const { reference } = opened;
    const isBuiltin = reference?.kind === "dist";
    return runExec(run, inner, { spec, definition, hasOpenOutputs, isScript: isScript(reference), isBuiltin });
  }
  return runSequence(run, inner, { spec, definition, hasOpenOutputs, runStep });
}

// A list hands its secrets on by name; only a process finds them in its environment.
function environmentOf(run: Run, level: Level, definition: Definition): Environment {
  const environment = inheritEnvironment(run, level, definition.inheritEnv);
  return definition.type === "exec"
    ? environment.with(secretEnvironment(level.granted, level.files, level.path))
    : environment;
}

function valuesOf(granted: readonly GrantedSecret[]): Record<string, RuntimeValue> {
  return Object.fromEntries(granted.map(({ name, value }) => [name, value]));
}
