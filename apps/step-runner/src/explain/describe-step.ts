import type { Engine } from "@steps/engine";
import type { Value } from "@steps/model";
import type {
  Definition,
  GithubPart,
  InputSpec,
  OutputSpec,
  SecretSpec,
  StepInvocation,
} from "@steps/model/definition";
import { formatReference, type StepReference } from "@steps/model/reference";
import { isNamed, kindOf } from "@steps/model/kinds";
import { exampleCommand, exampleItem } from "./example.ts";

type LoadedStep = Awaited<ReturnType<Engine["load"]>>;

/** The output of `explain --format json`. Members may be added. */
export interface Explanation {
  readonly version: 1;
  readonly name: string;
  readonly reference: string;
  readonly description?: string;
  /** Absent for what is part of the runner. */
  readonly component?: {
    readonly kind: string;
    readonly location: string;
    readonly requestedVersion?: string;
    readonly resolvedVersion?: string;
    readonly digest: Readonly<Record<string, string>>;
    /** True when the component was in the cache before it was asked for. */
    readonly isCached: boolean;
    readonly downloadLocation?: string;
  };
  /** The step file inside the component. */
  readonly file?: string;
  readonly definitionDigest: string;
  readonly inputs: readonly ExplainedInput[];
  /** `delegate`: those of a step of its list; `any`: what it writes. */
  readonly outputs: readonly ExplainedOutput[] | "delegate" | "any";
  readonly secrets: readonly ExplainedSecret[];
  readonly does: ExplainedDefinition;
  /** An item of a list of steps, and a command line. */
  readonly example: { readonly item: string; readonly command: string };
}

export interface ExplainedInput {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly default?: Value;
  readonly options?: readonly Value[];
  readonly match?: string;
  readonly isSensitive: boolean;
  readonly description?: string;
}

export interface ExplainedOutput {
  readonly name: string;
  readonly type: string;
  readonly default?: Value;
  readonly isSensitive: boolean;
  readonly description?: string;
}

export interface ExplainedSecret extends SecretSpec {
  readonly name: string;
}

export type ExplainedDefinition =
  | {
      readonly type: "exec";
      readonly command: readonly string[];
      readonly workDir?: string;
      /** The details of a GitHub action; absent for other steps. */
      readonly action?: ExplainedAction;
    }
  | {
      readonly type: "steps";
      readonly isParallel: boolean;
      readonly steps: readonly ExplainedItem[];
      readonly finally: readonly ExplainedItem[];
    };

/** The programs that a GitHub action runs besides the command of its main phase. */
export interface ExplainedAction {
  /** `node24`, `docker`, `run` for a script among actions, `native` for a program of the runner. */
  readonly using: string;
  readonly script?: string;
  readonly image?: string;
  readonly pre?: string;
  readonly post?: string;
}

export interface ExplainedItem {
  readonly name: string;
  /** The reference as it is written; absent where the step is written in place. */
  readonly reference?: string;
  readonly condition?: string;
  /** The definition of a step that is written in place; absent for other steps. */
  readonly does?: ExplainedDefinition;
}

/** Everything that a user of a step wants to know, from what was loaded. */
export function describeStep(reference: StepReference, loaded: LoadedStep): Explanation {
  const { specDefinition, definitionDigest, subpath } = loaded;
  const { spec, definition } = specDefinition;
  const name = nameOf(reference, loaded);
  // An action runs without what it requires; it is up to itself to say so.
  const isRequired = (input: string, port: InputSpec): boolean =>
    definition.github === undefined
      ? port.default === undefined
      : definition.github.requiredInputs?.includes(input) === true && port.default === undefined;
  const inputs = Object.entries(spec.inputs).map(([input, port]) =>
    describeInput(input, port, isRequired(input, port)),
  );
  const secrets = Object.entries(spec.secrets ?? {}).map(([secret, port]) => ({ name: secret, ...port }));
  return {
    version: 1,
    name,
    reference: formatReference(reference),
    description: spec.description,
    ...describeComponent(loaded),
    ...(subpath === "" ? {} : { file: subpath }),
    definitionDigest,
    inputs,
    outputs: describeOutputs(spec.outputs, spec.hasOpenOutputs === true),
    secrets,
    does: describeDefinition(definition),
    example: {
      item: exampleItem({ name, reference, inputs, secrets }),
      command: exampleCommand({ reference, inputs }),
    },
  };
}

/** A name for the step: the last part of where it is. */
function nameOf(reference: StepReference, { component }: LoadedStep): string {
  return (isNamed(reference) ? kindOf(reference).title(reference, component?.uri) : undefined) ?? "step";
}

function describeComponent({ component, fetch }: LoadedStep): Pick<Explanation, "component"> {
  if (component === undefined) return {};
  const { kind, uri, requestedVersion, resolvedVersion, digest, downloadLocation } = component;
  return {
    component: {
      kind,
      location: uri,
      ...(requestedVersion === "" ? {} : { requestedVersion }),
      ...(resolvedVersion === "" ? {} : { resolvedVersion }),
      digest,
      isCached: fetch?.isHit !== false,
      downloadLocation,
    },
  };
}

function describeInput(name: string, port: InputSpec, isRequired: boolean): ExplainedInput {
  const { type, isSensitive, options, match, description } = port;
  return {
    name,
    type,
    isRequired,
    default: port.default,
    options,
    match,
    isSensitive,
    description,
  };
}

function describeOutputs(
  outputs: Readonly<Record<string, OutputSpec>> | "delegate",
  isOpen: boolean,
): Explanation["outputs"] {
  if (outputs === "delegate") return "delegate";
  if (isOpen && Object.keys(outputs).length === 0) return "any";
  return Object.entries(outputs).map(([name, { type, default: value, isSensitive, description }]) => ({
    name,
    type,
    default: value,
    isSensitive,
    description,
  }));
}

function describeDefinition(definition: Definition): ExplainedDefinition {
  if (definition.type === "exec") {
    const { workDir, github, command } = definition;
    return {
      type: "exec",
      command: github?.script === undefined ? command : [...command, github.script],
      workDir,
      action: github === undefined ? undefined : describeAction(github),
    };
  }
  const { steps, isParallel, finally: last = [] } = definition;
  return {
    type: "steps",
    isParallel: isParallel === true,
    steps: steps.map(describeItem),
    finally: last.map(describeItem),
  };
}

function describeAction({ using, script, image, pre, post }: GithubPart): ExplainedAction {
  return {
    using,
    script,
    image,
    pre,
    post,
  };
}

function describeItem({ name, step, control, github }: StepInvocation): ExplainedItem {
  return {
    name,
    ...(step.kind === "inline"
      ? { does: describeDefinition(step.specDefinition.definition) }
      : { reference: formatReference(step) }),
    ...conditionOf(control?.condition ?? github?.if),
  };
}

function conditionOf(condition: string | undefined): { readonly condition?: string } {
  return condition === undefined ? {} : { condition };
}
