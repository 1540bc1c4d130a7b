import { printable } from "@steps/model/diagnostic";
import type { GraphNode } from "./listed-job.ts";

/** The graph of a pipeline for Graphviz. A point stands where all jobs of a stage have ended, so that the edges stay few. */
export function formatDot(nodes: readonly GraphNode[]): string {
  const quote = (text: string): string => `"${printable(text).replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;
  const names = namesOf(nodes);
  const shown = nodes.map((node) => {
    const name = names.get(node.id) ?? "";
    return node.isGate === true ? `  ${name} [shape=point];` : `  ${name} [label=${quote(node.id)}];`;
  });
  const stages = [...stagesOf(nodes)].map(([stage, members], index) => {
    const inside = members.map(({ id }) => `${names.get(id)};`).join(" ");
    return `  subgraph cluster_${index} { label=${quote(stage)}; ${inside} }`;
  });
  const edges = edgesOf(nodes).map(([from, to]) => `  ${names.get(from)} -> ${names.get(to)};`);
  return `${["digraph pipeline {", "  rankdir=LR;", "  node [shape=box];", ...shown, ...stages, ...edges, "}"].join("\n")}\n`;
}

/** The same for Mermaid. */
export function formatMermaid(nodes: readonly GraphNode[]): string {
  // Mermaid has no escapes in texts but entities.
  const quote = (text: string): string =>
    `"${printable(text).replaceAll(/["#&<>;]/g, (sign) => `#${sign.charCodeAt(0)};`)}"`;
  const names = namesOf(nodes);
  const shapeOf = (node: GraphNode): string =>
    `${names.get(node.id)}${node.isGate === true ? `((" "))` : `[${quote(node.id)}]`}`;
  const free = nodes.filter(({ stage }) => stage === undefined).map((node) => `  ${shapeOf(node)}`);
  const stages = [...stagesOf(nodes)].flatMap(([stage, members], index) => [
    `  subgraph stage${index}[${quote(stage)}]`,
    ...members.map((node) => `    ${shapeOf(node)}`),
    "  end",
  ]);
  const edges = edgesOf(nodes).map(([from, to]) => `  ${names.get(from)} --> ${names.get(to)}`);
  return `${["flowchart LR", ...stages, ...free, ...edges].join("\n")}\n`;
}

// The names of jobs hold what neither language takes as a name.
function namesOf(nodes: readonly GraphNode[]): ReadonlyMap<string, string> {
  return new Map(nodes.map(({ id }, index) => [id, `j${index}`]));
}

function stagesOf(nodes: readonly GraphNode[]): ReadonlyMap<string, readonly GraphNode[]> {
  const stages = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    if (node.stage === undefined) continue;
    const members = stages.get(node.stage);
    if (members === undefined) stages.set(node.stage, [node]);
    else members.push(node);
  }
  return stages;
}

function edgesOf(nodes: readonly GraphNode[]): readonly (readonly [from: string, to: string])[] {
  const known = new Set(nodes.map(({ id }) => id));
  return nodes.flatMap(({ id, needs }) => needs.filter((need) => known.has(need)).map((need) => [need, id] as const));
}
