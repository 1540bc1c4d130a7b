import { childOf, type YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
import { findCircles } from "@steps/pipeline";
import type { Reading } from "../reading/reading.ts";
import { scalarText } from "../reading/texts.ts";
import type { JobEntry } from "./workflow-file.ts";

interface Need {
  readonly id: string;
  readonly node: YamlNode;
}

/** Says which jobs need one that is not there, or wait for themselves. Ids are compared without their case. */
export function checkNeeds(reading: Reading, jobs: ReadonlyMap<string, JobEntry>): void {
  const ids = [...jobs.keys()];
  const known = new Set(ids.map((id) => id.toLowerCase()));
  const needs = new Map<string, readonly Need[]>();
  for (const { id, value } of jobs.values()) {
    const found = needsOf(childOf(value, "needs"));
    needs.set(id.toLowerCase(), found);
    for (const need of found) {
      if (known.has(need.id.toLowerCase())) continue;
      reading.report.add("error", need.node, () => {
        const near = nearest(need.id, ids);
        return {
          code: "missing-job",
          message: `The job ${quote(id)} needs ${quote(need.id)}, and there is no such job`,
          hint: near === undefined ? undefined : `Did you mean "${near}"?`,
        };
      });
    }
  }
  reportCircles(reading, needs);
}

function needsOf(node: YamlNode | undefined): readonly Need[] {
  const items = node === undefined ? [] : node.kind === "list" ? node.items : [node];
  return items.flatMap((item) => {
    const id = item.kind === "scalar" ? scalarText(item) : "";
    return id === "" ? [] : [{ id, node: item }];
  });
}

// Each circle is said once, at the need that closes it.
function reportCircles(reading: Reading, needs: ReadonlyMap<string, readonly Need[]>): void {
  const graph = new Map([...needs].map(([job, found]) => [job, { needs: found.map(({ id }) => id.toLowerCase()) }]));
  for (const circle of findCircles(graph)) {
    const [first = "", last = ""] = [circle[0], circle.at(-1)];
    const closing = needs.get(last)?.find(({ id }) => id.toLowerCase() === first);
    const message = `The jobs wait for each other: ${[...circle, first].slice(0, 20).map(quote).join(" needs ")}`;
    reading.report.error(closing?.node, { code: "circular-needs", message, hint: "None of them would ever start." });
  }
}
