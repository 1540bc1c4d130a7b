import type { JournalEvent } from "@steps/trace/journal";
import { describe, expect, test } from "vitest";
import { drawTree } from "./draw-tree.ts";
import { failingNode } from "./failing-node.ts";
import { PlainLines } from "./plain-lines.ts";
import { ProgressTree } from "./progress-tree.ts";
import { summarise } from "./summary.ts";

const START = 1_000_000;

/** Events of a run, each with the milliseconds since its beginning; members that the fold does not read are left out. */
const event = (type: JournalEvent["type"], at: number, more: object): JournalEvent =>
  ({ type, at: START + at, outputs: {}, exports: {}, ...more }) as unknown as JournalEvent;
const opened = (at: number, path: string, name: string): JournalEvent => event("step-opened", at, { path, name });
const planned = (at: number, path: string, definition: object): JournalEvent =>
  event("step-planned", at, { path, specDefinition: { spec: {}, definition } });
const starting = (at: number, path: string, ...command: string[]): JournalEvent =>
  event("process-starting", at, { path, command });
const finished = (at: number, path: string, status: string, more: object = {}): JournalEvent =>
  event("step-finished", at, { path, status, ...more });

const RUN: readonly JournalEvent[] = [
  event("run-started", 0, { job: { name: "demo" } }),
  opened(0, "", ""),
  planned(1, "", {
    steps: [{}, {}, { control: { retry: { max: 2 } } }, { control: { continueOnError: true } }, {}, {}],
  }),
  opened(10, "0", "build"),
  starting(12, "0", "/bin/bash", "-e", "-c", "# first\nmake all\n"),
  finished(2510, "0", "success", { exitCode: 0 }),
  opened(2510, "1", "checks"),
  planned(2511, "1", { parallel: true, steps: [{}, {}] }),
  opened(2512, "1/0", "lint"),
  opened(2512, "1/1", "a-rather-long-name-of-a-step-for-forty-columns"),
  finished(2600, "1/1", "success"),
  finished(2700, "1/0", "success"),
  finished(2701, "1", "success"),
  opened(2702, "2", "flaky"),
  planned(2703, "2", { steps: [{}] }),
  opened(2704, "2/0", "flaky"),
  finished(2750, "2/0", "failure", { exitCode: 1 }),
  opened(3750, "2/1", "flaky"),
  finished(3790, "2/1", "success"),
  finished(3791, "2", "success"),
  opened(3792, "3", "may-fail"),
  finished(3800, "3", "failure", { exitCode: 4 }),
  opened(3801, "4", "only-prod"),
  finished(3801, "4", "skipped", { skipReason: "if: it is \u001B[31mnot\u001B[0m so" }),
  opened(3802, "5", "deploy"),
  starting(3803, "5", "kubectl", "apply"),
];
const END: readonly JournalEvent[] = [
  finished(65_000, "5", "failure", { exitCode: 3 }),
  event("run-finished", 65_010, { outcome: { status: "failure", exitCode: 3 } }),
];

function treeOf(events: readonly JournalEvent[]): ProgressTree {
  const tree = new ProgressTree(START);
  for (const one of events) tree.apply(one);
  return tree;
}

const at = (ms: number, width: number, height?: number): Parameters<typeof drawTree>[1] => ({
  width,
  height,
  hasColor: false,
  now: START + ms,
});

describe("drawTree()", () => {
  test("drawTree() shows what runs, what it does, attempts, allowed failures and skipped steps at 80 columns", () => {
    expect(drawTree(treeOf(RUN), at(9_000, 80)).join("\n")).toMatchInlineSnapshot(`
      "⠋ job demo  9s
      ├─ ✓ build  2.5s
      ├─ ✓ checks  191ms
      │  ├─ ✓ lint  188ms
      │  └─ ✓ a-rather-long-name-of-a-step-for-forty-columns  88ms
      ├─ ✓ flaky  1.1s
      │  ├─ ✗ attempt 1 of 3  46ms  failure  exit 1
      │  └─ ✓ attempt 2 of 3  40ms
      ├─ ✗ may-fail  8ms  failure  (allowed)  exit 4
      ├─ - only-prod  skipped  if: it is ␛[31mnot␛[0m so
      └─ ⠋ deploy  5s  $ kubectl apply"
    `);
  });

  test("drawTree() cuts each line at 40 columns", () => {
    const lines = drawTree(treeOf([...RUN, ...END]), at(70_000, 40));
    expect(lines.every((line) => line.length <= 40)).toBe(true);
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "✗ job demo  1m05s  failure
      ├─ ✓ build  2.5s
      ├─ ✓ checks  191ms
      │  ├─ ✓ lint  188ms
      │  └─ ✓ a-rather-long-name-of-a-step-fo…
      ├─ ✓ flaky  1.1s
      │  ├─ ✗ attempt 1 of 3  46ms  failure  …
      │  └─ ✓ attempt 2 of 3  40ms
      ├─ ✗ may-fail  8ms  failure  (allowed) …
      ├─ - only-prod  skipped  if: it is ␛[31…
      └─ ✗ deploy  1m01s  failure  exit 3"
    `);
  });

  test("drawTree() keeps what runs and what has failed where there is little room, and counts the rest", () => {
    expect(drawTree(treeOf(RUN), at(9_000, 80, 5)).join("\n")).toMatchInlineSnapshot(`
      "⠋ job demo  9s
      ├─ ✓ flaky  1.1s
      │  ├─ ✗ attempt 1 of 3  46ms  failure  exit 1
      └─ ⠋ deploy  5s  $ kubectl apply
      … 7 more"
    `);
  });

  test("drawTree() turns the spinner with the time alone", () => {
    const tree = treeOf(RUN.slice(0, 5));
    const marks = [0, 100, 200].map((ms) => drawTree(tree, at(ms, 80))[0]?.slice(0, 1));
    expect(new Set(marks).size).toBe(3);
    expect(drawTree(tree, at(1_500, 80))[1]).toContain("build  1s  $ make all");
  });

  test("drawTree() never gives a terminal what names and reasons hold", () => {
    expect(drawTree(treeOf(RUN), at(0, 80)).join("")).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/);
  });
});

describe("ProgressTree", () => {
  test("counts() has the innermost steps, each retried one once", () => {
    expect(treeOf([...RUN, ...END]).counts()).toEqual({ passed: 4, failed: 1, allowed: 1, skipped: 1, cancelled: 0 });
    expect(summarise(treeOf([...RUN, ...END]), START + 65_010)).toBe(
      "4 passed, 1 failed, 1 allowed to fail, 1 skipped in 1m05s",
    );
  });

  test("failingNode() is the step that the job failed of, not one that may fail or was tried again", () => {
    expect(failingNode(treeOf([...RUN, ...END]))?.path).toBe("5");
    expect(failingNode(treeOf(RUN.slice(0, 20)))).toBeUndefined();
  });

  test("applyJob() folds the jobs of a pipeline with their steps, and forgets those of jobs that passed", () => {
    const tree = new ProgressTree(START, ".gitlab-ci.yml");
    const named = (name: string): { readonly job: string; readonly instance: string } => ({
      job: name,
      instance: name,
    });
    tree.applyJob({ type: "instance-started", ...named("a") }, "", START);
    tree.applyJob({ type: "instance-started", ...named("b") }, "child / ", START);
    tree.apply(opened(10, "0", "script"), "a");
    tree.apply(opened(10, "0", "script"), "child / b");
    expect(drawTree(tree, at(2_000, 80)).join("\n")).toMatchInlineSnapshot(`
      "⠋ pipeline .gitlab-ci.yml  2s
      ├─ ⠋ a  2s
      │  └─ ⠋ script  1s
      └─ ⠋ child / b  2s
         └─ ⠋ script  1s"
    `);
    tree.applyJob({ type: "instance-ended", ...named("a"), result: { status: "success" } }, "", START + 3_000);
    const failure = { status: "failure", reason: "exit code 3", exitCode: 3 } as const;
    tree.applyJob({ type: "instance-retried", ...named("b"), attempt: 1, result: failure }, "child / ", START + 3_000);
    tree.applyJob(
      { type: "instance-ended", ...named("b"), result: { ...failure, isAllowedToFail: true } },
      "child / ",
      START + 4_000,
    );
    tree.applyJob({ type: "job-ended", job: "c", result: { status: "skipped", reason: "a rule" } }, "", START + 4_000);
    expect(drawTree(tree, at(4_000, 80)).join("\n")).toMatchInlineSnapshot(`
      "⠋ pipeline .gitlab-ci.yml  4s
      ├─ ✓ a  3.0s
      ├─ ✗ child / b  4.0s  failure  (allowed)  exit code 3
      └─ - c  skipped  a rule"
    `);
    expect(tree.counts()).toEqual({ passed: 1, failed: 0, allowed: 1, skipped: 1, cancelled: 0 });
  });
});

describe("PlainLines", () => {
  test("linesOf() gives a line for the beginning and one for the end of each step, with the names around it", () => {
    const tree = new ProgressTree(START);
    const plain = new PlainLines(tree);
    const lines = [...RUN, ...END].flatMap((one) => {
      tree.apply(one);
      return plain.linesOf(one);
    });
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "▶ build
      ✓ build  2.5s
      ▶ checks
      ▶ checks / lint
      ▶ checks / a-rather-long-name-of-a-step-for-forty-columns
      ✓ checks / a-rather-long-name-of-a-step-for-forty-columns  88ms
      ✓ checks / lint  188ms
      ✓ checks  191ms
      ▶ flaky
      ▶ flaky / attempt 1 of 3
      ✗ flaky / attempt 1 of 3  46ms  failure  exit 1
      ▶ flaky / attempt 2 of 3
      ✓ flaky / attempt 2 of 3  40ms
      ✓ flaky  1.1s
      ▶ may-fail
      ✗ may-fail  8ms  failure  (allowed)  exit 4
      - only-prod  skipped  if: it is �[31mnot�[0m so
      ▶ deploy
      ✗ deploy  1m01s  failure  exit 3"
    `);
  });
});
