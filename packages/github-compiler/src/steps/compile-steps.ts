import type { YamlEntry, YamlNode } from "@steps/source";
import type { StepInvocation } from "@steps/model/definition";
import { nearest, quote } from "@steps/model/diagnostic";
import { entriesOf, reportUnknownKey, wrongType } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { compileRun, type RunDefaults } from "./compile-run.ts";
import { compileUses } from "./compile-uses.ts";
import { readCommon } from "./read-common.ts";
import { commonKeys, FUTURE_KEYS, KIND_KEYS } from "./step-keys.ts";

/** A step after its keys were looked at. */
export interface RawStep {
  readonly index: number;
  readonly node: YamlNode;
  readonly keys: ReadonlyMap<string, YamlEntry>;
}

/** Compiles the steps of a composite action or of a job. Texts stay in GitHub's language. */
export function compileSteps(
  reading: Reading,
  node: YamlNode | undefined,
  { parent, defaults = {} }: { readonly parent: YamlNode; readonly defaults?: RunDefaults },
): readonly StepInvocation[] {
  if (node?.kind !== "list") {
    if (node !== undefined) wrongType(reading, node, `"steps" must be a list`);
    else reading.report.error(parent, { code: "missing-key", message: `There are no "steps"` });
    return [];
  }
  if (node.items.length === 0) {
    reading.report.warn(node, { code: "empty-run", message: `The list of "steps" is empty` });
  }
  const ids = new Map<string, number>();
  return node.items.flatMap((item, index) => {
    placeAt(reading, ["definition", "steps", index], item);
    return compileStep(reading, { index, node: item, keys: new Map() }, { ids, defaults });
  });
}

function compileStep(
  reading: Reading,
  { index, node }: RawStep,
  { ids, defaults }: { readonly ids: Map<string, number>; readonly defaults: RunDefaults },
): StepInvocation[] {
  if (node.kind !== "mapping") {
    wrongType(reading, node, `A step must be a mapping with "run" or "uses"`);
    return [];
  }
  const what = `step ${index + 1}`;
  const step: RawStep = { index, node, keys: new Map(entriesOf(reading, node, what)) };
  const kind = readKind(reading, step);
  if (kind === undefined) return [];
  checkKeys(reading, step, kind);
  const common = readCommon(reading, step, ids);
  const body = kind === "run" ? compileRun(reading, step, defaults) : compileUses(reading, step);
  return body === undefined ? [] : [{ ...common, ...body }];
}

function readKind({ report }: Reading, { index, node, keys }: RawStep): "run" | "uses" | undefined {
  const future = FUTURE_KEYS.map((name) => keys.get(name)).find((entry) => entry !== undefined);
  const uses = keys.get("uses");
  if (future !== undefined) {
    report.error(future.key, {
      code: "not-supported",
      message: `"${future.key.text}" of step ${index + 1} is not supported: steps run one after the other`,
    });
    return undefined;
  }
  if (keys.has("run") && uses !== undefined) {
    const message = `Step ${index + 1} has both "run" and "uses"`;
    report.error(uses.key, { code: "conflicting-keys", message, hint: "Make two steps of it." });
    return undefined;
  }
  if (keys.has("run")) return "run";
  if (uses !== undefined) return "uses";
  const near = [...keys.keys()].find((name) => nearest(name, ["run", "uses"]) !== undefined);
  const hint = near === undefined ? undefined : `Is ${quote(near)} one of them, misspelt?`;
  report.error(keys.get(near ?? "")?.key ?? node, {
    code: "missing-key",
    message: `Step ${index + 1} has neither "run" nor "uses"`,
    hint,
  });
  return undefined;
}

function checkKeys(reading: Reading, { index, keys }: RawStep, kind: "run" | "uses"): void {
  const known = [...commonKeys(reading), ...KIND_KEYS[kind]];
  const other = kind === "run" ? "uses" : "run";
  for (const [name, { key }] of keys) {
    if (known.includes(name)) continue;
    if (KIND_KEYS[other].includes(name)) {
      const message = `${quote(name)} of step ${index + 1} does not go with "${kind}"`;
      reading.report.error(key, { code: "conflicting-keys", message, hint: `It belongs to steps with "${other}".` });
    } else if (reading.file === "action" && name === "timeout-minutes") {
      const message = `"timeout-minutes" is not available in composite actions`;
      reading.report.error(key, { code: "unknown-key", message, hint: "Set it on the step that uses the action." });
    } else reportUnknownKey(reading, { name, key, what: `step ${index + 1}` }, { known });
  }
}
