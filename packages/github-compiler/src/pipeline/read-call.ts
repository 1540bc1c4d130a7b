import { childOf, type YamlMapping } from "@steps/source";
import type { Contexts } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { evaluateTree } from "../reading/evaluate.ts";
import { entriesOf, reportUnknownKey } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { readTexts } from "../reading/read-texts.ts";
import { scalarText } from "../reading/texts.ts";
import type { CallWork } from "./workflow-work.ts";

const KEYS: readonly string[] = [
  "name",
  "uses",
  "with",
  "secrets",
  "strategy",
  "needs",
  "if",
  "concurrency",
  "permissions",
];

/** Reads the keys of a job that calls another workflow. `undefined`: they are malformed, which was reported. */
export function readCall(
  reading: Reading,
  { id, value }: { readonly id: string; readonly value: YamlMapping },
  contexts: Contexts,
): Pick<CallWork, "uses" | "inputs" | "secrets"> | undefined {
  for (const [name, { key }] of entriesOf(reading, value, `The job ${quote(id)}`)) {
    if (!KEYS.includes(name)) reportUnknownKey(reading, { name, key, what: `the job ${quote(id)}` }, { known: KEYS });
  }
  const usesNode = childOf(value, "uses");
  const uses = usesNode?.kind === "scalar" ? scalarText(usesNode) : undefined;
  const withNode = childOf(value, "with");
  const inputs =
    withNode === undefined
      ? createObject<Value>()
      : evaluateTree(reading, withNode, { what: `"with" of the job`, at: "job-with", contexts });
  const secretsNode = childOf(value, "secrets");
  const inherits = secretsNode?.kind === "scalar" && scalarText(secretsNode) === "inherit";
  const secrets = inherits
    ? "inherit"
    : readTexts(reading, secretsNode, { what: `"secrets" of the job`, at: "job-secrets", pointer: ["secrets"] });
  if (uses === undefined || inputs === undefined || reading.report.hasErrors) return undefined;
  return { uses, inputs: inputs as Record<string, Value>, secrets };
}
