import { escapePointer } from "@steps/model/value";
import { createObject } from "@steps/model";
import type { InputSpec, SpecDefinition, StepControl, StepInvocation } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import { positionIn, type YamlNode } from "@steps/source";

/** A part of a job as an item of the list that it becomes. */
export interface Phase {
  /** The name of GitLab's section of the log. */
  readonly name: string;
  readonly step: StepInvocation["step"];
  readonly inputs?: StepInvocation["inputs"] | undefined;
  readonly env?: StepInvocation["env"] | undefined;
  readonly control?: StepControl | undefined;
  /** The place that it was written at. */
  readonly node: YamlNode;
  /** The places of its parts by JSON pointers into its step: `/inputs/script`. Absent: all have that of the phase. */
  readonly places?: ReadonlyMap<string, YamlNode> | undefined;
  /** Tells the place of a pointer into the definition that the step has in place. */
  readonly positionOf?: ((pointer: string, part?: "key") => Position | undefined) | undefined;
  /** The phase runs when the job has ended, however it did. */
  readonly isLast?: boolean | undefined;
}

/** A job as a list of steps, with the places that its parts were written at. */
export interface AssembledJob {
  readonly specDefinition: SpecDefinition;
  readonly positionOf: (pointer: string, part?: "key") => Position | undefined;
}

/** Puts the phases of a job together to one definition. */
export function assembleJob(
  phases: readonly Phase[],
  { key, inputs }: { readonly key: YamlNode; readonly inputs: Readonly<Record<string, InputSpec>> },
): AssembledJob {
  const places = new Map<string, YamlNode>([["", key]]);
  const inner: { readonly at: string; readonly positionOf: NonNullable<Phase["positionOf"]> }[] = [];
  const list = (name: "steps" | "finally", members: readonly Phase[]): readonly StepInvocation[] => {
    return members.map((phase, index) => {
      const at = `/definition/${name}/${index}`;
      places.set(at, phase.node);
      for (const [pointer, node] of phase.places ?? []) places.set(`${at}${pointer}`, node);
      if (phase.positionOf !== undefined) inner.push({ at: `${at}/step/specDef`, positionOf: phase.positionOf });
      return invocationOf(phase);
    });
  };
  const steps = list(
    "steps",
    phases.filter(({ isLast }) => isLast !== true),
  );
  const last = list(
    "finally",
    phases.filter(({ isLast }) => isLast === true),
  );
  return {
    specDefinition: {
      spec: { inputs, outputs: {} },
      definition: {
        type: "steps",
        steps,
        ...(last.length === 0 ? {} : { finally: last }),
        env: createObject(),
        outputs: createObject(),
      },
    },
    positionOf(pointer, part) {
      const within = inner.find(({ at }) => pointer.startsWith(`${at}/`));
      return within?.positionOf(pointer.slice(within.at.length), part) ?? positionIn(places, pointer, part);
    },
  };
}

function invocationOf({ name, step, inputs = {}, env = {}, control }: Phase): StepInvocation {
  return { name, step, inputs: createObject(Object.entries(inputs)), env: createObject(Object.entries(env)), control };
}

/** The places of the variables in the environment of a step. */
export function placesOfVariables(
  nodes: ReadonlyMap<string, YamlNode>,
  at: YamlNode | undefined,
): ReadonlyMap<string, YamlNode> {
  const places = new Map<string, YamlNode>(at === undefined ? [] : [["/env", at]]);
  for (const [name, node] of nodes) places.set(`/env/${escapePointer(name)}`, node);
  return places;
}

/** A step of the library that jobs are compiled to. */
export function libraryStep(name: string): StepInvocation["step"] {
  return { kind: "dist", path: `gitlab/${name}` };
}
