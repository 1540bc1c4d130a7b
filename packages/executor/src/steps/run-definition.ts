import type { RuntimeString, RuntimeValue } from "@steps/model";
import type { Definition } from "@steps/model/definition";
import type { Environment } from "@steps/model/environment";
import { runExec } from "./exec.ts";
import { expandEnv } from "../values/expand-env.ts";
import { createExpander } from "../values/expander.ts";
import { inheritEnvironment } from "../run/inherit-env.ts";
import type { Inputs } from "../values/inputs.ts";
import { type GrantedSecret, type Level, placesOf, scopeOf } from "../run/level.ts";
import type { OpenedStep } from "../run/opened-step.ts";
import { isScript } from "./resolve-reference.ts";
import { actionsOf } from "../run/actions-of.ts";
import { type Run, tell } from "../run/run.ts";
import { secretEnvironment } from "../values/secrets.ts";
import { withoutCredentials } from "../values/secret-reference.ts";
import { runSequence } from "../lists/sequence.ts";
import type { RunStep } from "../lists/step-language.ts";
import type { StepEnd } from "../outcome/step-end.ts";

/** A definition to carry out, with everything it is given. */
export interface DefinitionCall {
  readonly opened: Omit<OpenedStep, "reference"> & { readonly reference?: OpenedStep["reference"] };
  /** The inputs with their defaults. */
  readonly inputs: Inputs;
  readonly invocation: { readonly inputs: Inputs; readonly env: Readonly<Record<string, RuntimeString>> };
  /** When true, outputs that the spec does not declare are accepted. */
  readonly hasOpenOutputs: boolean;
  /** Runs its children. */
  readonly runStep: RunStep;
}

/** Expands the definition's env, says what is going to be done, and does it. */
export async function runDefinition(run: Run, level: Level, call: DefinitionCall): Promise<StepEnd> {
  const { opened, inputs, invocation, hasOpenOutputs, runStep } = call;
  const { spec, definition } = opened.specDefinition;
  const isWorkflow = definition.type === "steps" && definition.github?.using === "job";
  const environment = environmentOf(run, level, definition);
  const expander = createExpander(run, () => scopeOf(run, level, { environment }), level);
  // The texts of a workflow are in a language that is not ours.
  const definitionEnv = isWorkflow ? {} : expandEnv(expander, definition.env, "/definition");
  const inner: Level = { ...level, environment: environment.with(definitionEnv) };
  tell(run, {
    type: "step-planned",
    at: Date.now(),
    path: level.path,
    specDefinition: opened.specDefinition,
    definitionDigest: opened.definitionDigest,
    component: opened.component,
    subpath: opened.subpath,
    reference: opened.reference === undefined ? undefined : withoutCredentials(opened.reference),
    inputs,
    invocation: { inputs: invocation.inputs, env: invocation.env },
    ...(level.granted.length === 0 ? {} : { secrets: valuesOf(level.granted) }),
    definitionEnv,
    places: placesOf(run, level),
  });
  if (isWorkflow) {
    const actions = await actionsOf(run);
    return actions.runWorkflowJob(run, inner, definition);
  }
  if (definition.type === "exec") {
    const { reference } = opened;
    const isBuiltin = reference?.kind === "dist";
    const { functions } = opened;
    return runExec(run, inner, {
      spec,
      definition,
      hasOpenOutputs,
      isScript: isScript(reference),
      isBuiltin,
      functions,
    });
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
