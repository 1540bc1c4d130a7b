import { describe, expect, test } from "vitest";
import { formatJunit, formatMarkdown, formatTable } from "./format-pipeline.ts";
import type { PipelineRow } from "./pipeline-rows.ts";

const rows: readonly PipelineRow[] = [
  { job: "build", result: "success", durationMs: 61_000 },
  { job: "test (a|b) <x> & \u001b[31m", result: "failure", durationMs: 1234, reason: 'step "x": exit status 1\nmore' },
  { job: "deploy", result: "skipped", reason: "It needs jobs that did not succeed" },
];

describe("formatTable()", () => {
  test("formatTable() aligns the columns and shows no control characters", () => {
    expect(formatTable(rows)).toBe(
      [
        "build                   passed   1m01s",
        'test (a|b) <x> & \uFFFD[31m  failed   1.2s   step "x": exit status 1',
        "deploy                  skipped         It needs jobs that did not succeed",
        "",
      ].join("\n"),
    );
  });
});

describe("formatJunit()", () => {
  test("formatJunit() escapes what XML does not take", () => {
    const text = formatJunit(rows, "ci.yml");
    expect(text).toContain('tests="3" failures="1" skipped="1"');
    expect(text).toContain('<testcase name="test (a|b) &lt;x&gt; &amp; \uFFFD[31m" time="1.234">');
    expect(text).toContain('<failure message="step &quot;x&quot;: exit status 1"/>');
  });
});

describe("formatMarkdown()", () => {
  test("formatMarkdown() keeps a cell a cell", () => {
    expect(formatMarkdown(rows)).toContain("| test (a\\|b) \\<x> &");
  });
});
