import { quote } from "@steps/model/diagnostic";
import { childOf, type YamlNode } from "@steps/source";
import { type Contexts, toText } from "@steps/github-language";
import { evaluateTree } from "../reading/evaluate.ts";
import type { Reading } from "../reading/reading.ts";

/** The labels that a job asks for. They are only looked at: the job runs here. */
export function readRunsOn(
  reading: Reading,
  node: YamlNode | undefined,
  job: { readonly key: YamlNode; readonly contexts: Contexts },
): readonly string[] {
  if (node === undefined) {
    const hint = "Write runs-on: ubuntu-latest.";
    reading.report.error(job.key, { code: "missing-key", message: `The job has no "runs-on"`, hint });
    return [];
  }
  const at = { what: `"runs-on"`, at: "job-runs-on", contexts: job.contexts } as const;
  const labels = node.kind === "mapping" ? childOf(node, "labels") : node;
  const value = labels === undefined ? [] : evaluateTree(reading, labels, at);
  if (value === undefined) return [];
  const found = (Array.isArray(value) ? value : [value]).map(toText).filter((label) => label !== "");
  const foreign = found.find((label) => /^(?:windows|macos)(?:$|-)/i.test(label));
  if (foreign !== undefined) {
    const message = `The job asks for ${quote(foreign)} and runs here all the same`;
    reading.report.warn(labels ?? node, { code: "other-system", message });
  }
  return found;
}
