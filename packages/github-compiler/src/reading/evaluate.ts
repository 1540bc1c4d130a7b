import type { YamlNode } from "@steps/source";
import { type Contexts, evaluateTemplate, GithubExpressionError } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { entriesOf } from "./mapping.ts";
import type { Reading } from "./reading.ts";
import { templateOf, type TextPlace } from "./templates.ts";

/** The context `needs` when the jobs before this one were not run. Expressions that read it have no value. */
export const UNKNOWN_NEEDS: Readonly<Record<string, Value>> = createObject();

/** The context `inputs` of a workflow that is looked at before somebody calls it. */
export const UNKNOWN_INPUTS: Readonly<Record<string, Value>> = createObject();

/** The context `matrix` of a job whose matrix is made of unknown needs. */
export const UNKNOWN_MATRIX: Readonly<Record<string, Value>> = createObject();

const UNKNOWN = { needs: UNKNOWN_NEEDS, matrix: UNKNOWN_MATRIX, inputs: UNKNOWN_INPUTS };

export interface EvaluatePlace extends TextPlace {
  /** The contexts that are known before the job runs. */
  readonly contexts: Contexts;
}

/**
 * The value of a node with all expressions in it evaluated, as GitHub does before a job starts. Numbers and booleans keep their
 * type, and a list that is an item of a list becomes items of it. `undefined`: something has no value, which was reported.
 */
export function evaluateTree(reading: Reading, node: YamlNode, place: EvaluatePlace): Value | undefined {
  if (node.kind === "scalar") {
    const text = templateOf(reading, node, place);
    if (text === undefined || typeof node.value !== "string") return text === undefined ? undefined : node.value;
    return evaluateAt(reading, node, { text, contexts: place.contexts });
  }
  if (node.kind === "list") {
    const items = node.items.map((item) => evaluateTree(reading, item, place));
    if (items.includes(undefined)) return undefined;
    return (items as Value[]).flatMap((item, index) => {
      return Array.isArray(item) && node.items[index]?.kind === "scalar" ? item : [item];
    });
  }
  const object = createObject<Value>();
  let isWhole = true;
  for (const [name, { value }] of entriesOf(reading, node, place.what)) {
    const found = evaluateTree(reading, value, { ...place, what: `${quote(name)} of ${place.what}` });
    if (found === undefined) isWhole = false;
    else object[name] = found;
  }
  return isWhole ? object : undefined;
}

/** The value of a text that stands at a node. */
export function evaluateAt(
  reading: Reading,
  node: YamlNode,
  { text, contexts }: { readonly text: string; readonly contexts: Contexts },
): Value | undefined {
  // Once a file is wrong, evaluating its expressions would only say it again.
  if (reading.report.hasErrors) return undefined;
  let isUnknown = false;
  const asked = Object.entries(UNKNOWN).filter(([name, unknown]) => contexts[name] === unknown);
  const asking = asked.map(([name, unknown]) => {
    const ask = (): Value => {
      isUnknown = true;
      return unknown;
    };
    return [name, ask] as const;
  });
  try {
    const value = evaluateTemplate(text, { contexts: { ...contexts, ...Object.fromEntries(asking) } });
    return isUnknown ? noteNeeds(reading, node) : value;
  } catch (error) {
    if (!(error instanceof GithubExpressionError)) throw error;
    if (isUnknown) return noteNeeds(reading, node);
    const { message, hint, offset, length } = error;
    reading.report.error(node, { code: "invalid-expression", message, hint, part: { offset, length } });
    return undefined;
  }
}

function noteNeeds(reading: Reading, node: YamlNode): undefined {
  const message = "The value depends on other jobs, which are not run here: it is unknown";
  reading.report.note(node, { code: "unknown-needs", message });
}

/** A text that evaluates to itself. */
export function escapeTemplate(text: string): string {
  return text.replaceAll("${{", () => "${{ '${{' }}");
}
