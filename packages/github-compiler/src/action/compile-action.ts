import type { YamlMapping } from "@steps/source";
import { checkOptionNames, type OptionNames, createObject } from "@steps/model";
import type { Definition, GithubPart, Spec, SpecDefinition } from "@steps/model/definition";
import type { Source } from "@steps/model/diagnostic";
import { createReading, placeAt, positionsOf, readDocument, type Reading } from "../reading/reading.ts";
import { proseOf } from "../reading/texts.ts";
import { compileSteps } from "../steps/compile-steps.ts";
import { compileDocker } from "./compile-docker.ts";
import { compileNode } from "./compile-node.ts";
import type { CompileActionOptions, CompiledAction } from "./manifest.ts";
import { readInputs } from "./read-inputs.ts";
import { type ActionOutputs, readOutputs } from "./read-outputs.ts";
import { readRuns, type Runs } from "./read-runs.ts";

const OPTION_NAMES: OptionNames<CompileActionOptions> = { advisesAuthor: true };

/**
 * Compiles the manifest of an action, `action.yml`, to the baseline: a definition with a `github` part, whose texts are in
 * GitHub's language and evaluated when it runs. As lenient as GitHub's own runner: only `runs` is compulsory, keys of others are
 * passed over. Never throws: what is wrong is a diagnostic.
 *
 * All inputs are strings; one without a default has none here, and is empty when nobody gives it, required or not.
 */
export function compileAction(source: Source, options: CompileActionOptions = {}): CompiledAction {
  checkOptionNames("compileAction()", options, OPTION_NAMES);
  const reading = createReading("action", options.advisesAuthor);
  const root = readDocument(reading, source);
  const specDefinition = root === undefined ? undefined : compileRoot(reading, root);
  return {
    specDefinition: reading.report.hasErrors ? undefined : specDefinition,
    diagnostics: reading.report.finish(),
    positionOf: positionsOf(reading),
  };
}

function compileRoot(reading: Reading, root: YamlMapping): SpecDefinition | undefined {
  placeAt(reading, [], root);
  const description = readProse(reading, root);
  const runs = readRuns(reading, root);
  const { inputs, deprecated, required } = readInputs(reading, root.entries.get("inputs")?.value);
  const outputs = readOutputs(reading, root.entries.get("outputs")?.value, runs?.kind === "composite");
  if (runs === undefined) return undefined;
  placeAt(reading, ["definition"], runs.node);
  const definition = compileRuns(reading, runs, outputs);
  if (definition?.github === undefined) return undefined;
  const spec: Spec = {
    inputs,
    outputs: outputs.outputs,
    hasOpenOutputs: true,
    ...(description ? { description } : {}),
  };
  const github: GithubPart = {
    ...definition.github,
    ...(Object.keys(deprecated).length === 0 ? {} : { deprecatedInputs: deprecated }),
    ...(required.length === 0 ? {} : { requiredInputs: required }),
  };
  return { spec, definition: { ...definition, github } };
}

function readProse(reading: Reading, root: YamlMapping): string | undefined {
  const texts = ["name", "description"].map((key) => {
    const node = root.entries.get(key)?.value;
    if (node !== undefined) return proseOf(reading, node, `"${key}"`);
    if (reading.advisesAuthor) {
      reading.report.note(root, { code: "incomplete-manifest", message: `The manifest has no "${key}"` });
    }
    return undefined;
  });
  return texts[1];
}

function compileRuns(reading: Reading, runs: Runs, outputs: ActionOutputs): Definition | undefined {
  switch (runs.kind) {
    case "node":
      return compileNode(reading, runs);
    case "docker":
      return compileDocker(reading, runs);
    case "composite":
      return {
        type: "steps",
        steps: compileSteps(reading, runs.keys.get("steps"), { parent: runs.node }),
        env: createObject(),
        outputs: outputs.values,
        github: { using: "composite" },
      };
  }
}
