import { childOf, type YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
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
  const needs = new Map<string, readonly Need[]>();
  for (const { id, value } of jobs.values()) {
    const found = needsOf(childOf(value, "needs"));
    needs.set(id.toLowerCase(), found);
    for (const need of found) {
      if (ids.some((other) => other.toLowerCase() === need.id.toLowerCase())) continue;
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

// Each circle is said once, at the need that closes it. A list instead of recursion: there may be many thousand jobs in a row.
function reportCircles(reading: Reading, needs: ReadonlyMap<string, readonly Need[]>): void {
  const done = new Set<string>();
  for (const start of needs.keys()) {
    const way: { readonly id: string; next: number }[] = done.has(start) ? [] : [{ id: start, next: 0 }];
    const onWay = new Set(way.map(({ id }) => id));
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const need = needs.get(last.id)?.[last.next++];
      const id = need?.id.toLowerCase();
      if (need === undefined || id === undefined) {
        done.add(last.id);
        onWay.delete(last.id);
        way.pop();
      } else if (onWay.has(id)) {
        const circle = [...way.slice(way.findIndex((one) => one.id === id)).map((one) => one.id), id];
        const message = `The jobs wait for each other: ${circle.slice(0, 20).map(quote).join(" needs ")}`;
        reading.report.error(need.node, { code: "circular-needs", message, hint: "None of them would ever start." });
      } else if (!done.has(id) && needs.has(id)) {
        way.push({ id, next: 0 });
        onWay.add(id);
      }
    }
  }
}
