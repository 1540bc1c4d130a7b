import { type CheckedStep, type CheckedTree, CompileError } from "@steps/engine";
import { jobVariables } from "@steps/engine/environment";
import { encodeSpecDefinition } from "@steps/model/baseline";
import { hasErrors } from "@steps/model/diagnostic";
import type { Resource } from "@steps/model/event";
import { showDiagnostics } from "./diagnose.ts";
import { openEngine } from "../open-engine.ts";
import { type InputOptions, readTextOrReference } from "./read-input.ts";
import { StopSignals } from "../signals.ts";

/** A step of the tree that `compile --eager` prints. */
interface TreeNode {
  readonly path: string;
  readonly name?: string;
  readonly reference: string;
  readonly state: CheckedStep["state"];
  readonly sameAs?: string;
  readonly component?: Omit<Resource, "isMutable">;
  readonly subpath?: string;
  readonly definitionDigest?: string;
  /** The definition in protobuf's JSON form, as `compile` prints it. */
  readonly baseline?: unknown;
  readonly steps?: readonly TreeNode[];
}

/** Compiles what the arguments name and all that it names; shows what is wrong. `undefined` if there are errors. */
export async function compileTree(given: InputOptions, path: string | undefined): Promise<TreeNode | undefined> {
  const input = await readTextOrReference(given, path);
  await using engine = openEngine(given);
  using stop = new StopSignals();
  const options = { signal: stop.signal, isLenient: given.lenient, vars: jobVariables(process.env) };
  let tree: CheckedTree;
  if ("kind" in input) {
    try {
      tree = await engine.check({ reference: input, baseDir: process.cwd() }, options);
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      showDiagnostics({}, error.diagnostics, { withNotes: true });
      return undefined;
    }
  } else {
    const { specDefinition } = input;
    if (specDefinition === undefined) return undefined;
    tree = await engine.check({ ...input, specDefinition }, options);
  }
  showDiagnostics({}, tree.diagnostics, { withNotes: true });
  return hasErrors(tree.diagnostics) ? undefined : encode(tree.root);
}

function encode(step: CheckedStep): TreeNode {
  const { path, name, reference, state, sameAs, component, subpath, definitionDigest, specDefinition, steps } = step;
  return {
    path,
    ...(name === "" ? {} : { name }),
    reference,
    state,
    sameAs,
    component: component === undefined ? undefined : encodeComponent(component),
    subpath,
    definitionDigest,
    baseline: specDefinition === undefined ? undefined : encodeSpecDefinition(specDefinition),
    ...(steps.length === 0 ? {} : { steps: steps.map(encode) }),
  };
}

function encodeComponent({ isMutable: _isMutable, ...component }: Resource): Omit<Resource, "isMutable"> {
  return component;
}
