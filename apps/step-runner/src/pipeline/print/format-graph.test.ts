import { describe, expect, test } from "vitest";
import { formatDot, formatMermaid } from "./format-graph.ts";
import type { GraphNode } from "./listed-job.ts";

const nodes: readonly GraphNode[] = [
  { id: 'build "x" \\ <y>\u001b', needs: [], stage: "build" },
  { id: "\ngate", needs: ['build "x" \\ <y>\u001b'], isGate: true },
  { id: "test", needs: ["\ngate", "not there"], stage: "test" },
  { id: "free", needs: ["test"] },
];

describe("formatDot()", () => {
  test("formatDot() names the jobs as they are, and draws a point for a gate", () => {
    expect(formatDot(nodes)).toBe(
      [
        "digraph pipeline {",
        "  rankdir=LR;",
        "  node [shape=box];",
        String.raw`  j0 [label="build \"x\" \\ <y>` + '\uFFFD"];',
        "  j1 [shape=point];",
        '  j2 [label="test"];',
        '  j3 [label="free"];',
        '  subgraph cluster_0 { label="build"; j0; }',
        '  subgraph cluster_1 { label="test"; j2; }',
        "  j0 -> j1;",
        "  j1 -> j2;",
        "  j2 -> j3;",
        "}",
        "",
      ].join("\n"),
    );
  });
});

describe("formatMermaid()", () => {
  test("formatMermaid() puts jobs into their stages, and escapes what its language takes for its own", () => {
    expect(formatMermaid(nodes)).toBe(
      [
        "flowchart LR",
        '  subgraph stage0["build"]',
        '    j0["build #34;x#34; \\ #60;y#62;\uFFFD"]',
        "  end",
        '  subgraph stage1["test"]',
        '    j2["test"]',
        "  end",
        '  j1((" "))',
        '  j3["free"]',
        "  j0 --> j1",
        "  j1 --> j2",
        "  j2 --> j3",
        "",
      ].join("\n"),
    );
  });
});
