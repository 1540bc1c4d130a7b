import type { PipelineEvent } from "@steps/model/pipeline";
import { describe, expect, test } from "vitest";
import { PipelineRows } from "./pipeline-rows.ts";

function rowsOf(events: readonly (readonly [event: PipelineEvent, path?: string])[]): readonly string[] {
  const rows = new PipelineRows();
  for (const [index, [event, path = ""]] of events.entries()) rows.apply(event, path, index * 1000);
  return rows.rows.map(
    ({ job, result, durationMs = -1, attempts = 1 }) => `${job} ${result} ${durationMs} ${attempts}`,
  );
}

const decided = (job: string): PipelineEvent => ({ type: "job-decided", job, instances: [job] });
const started = (job: string): PipelineEvent => ({ type: "instance-started", job, instance: job });
const result = { status: "success" } as const;
const ended = (job: string, attempts?: number): PipelineEvent => ({
  type: "instance-ended",
  job,
  instance: job,
  result: { ...result, attempts },
});
const done = (job: string): PipelineEvent => ({ type: "job-ended", job, result });

describe("PipelineRows", () => {
  test("PipelineRows has one row for an instance with its time and attempts, and one for a job that has none", () => {
    const skipped: PipelineEvent = { type: "job-ended", job: "b", result: { status: "skipped", reason: "no" } };
    const events = [decided("a"), started("a"), ended("a", 3), done("a"), decided("b"), skipped];
    expect(rowsOf(events.map((event) => [event] as const))).toEqual(["a success 1000 3", "b skipped -1 1"]);
  });

  test("PipelineRows leaves out a job whose pipeline has rows of its own, also where its name begins like another", () => {
    expect(
      rowsOf([
        [started("call")],
        [decided("in"), "call / "],
        [started("in"), "call / "],
        [ended("in"), "call / "],
        [done("in"), "call / "],
        [ended("call")],
        [done("call")],
        [started("call / x")],
        [ended("call / x")],
      ]),
    ).toEqual(["call / in success 1000 1", "call / x success 1000 1"]);
  });

  test("PipelineRows gives the row of a job that started a pipeline at its end, though it is in no table", () => {
    const rows = new PipelineRows();
    const given = (
      [
        [started("call")],
        [decided("in"), "call / "],
        [ended("in"), "call / "],
        [done("in"), "call / "],
        [ended("call")],
        [done("call")],
      ] as const
    ).map(([event, path = ""], index) => rows.apply(event, path, index * 1000)?.job);
    expect(given).toEqual([undefined, undefined, "call / in", undefined, "call", undefined]);
    expect(rows.rows.map(({ job }) => job)).toEqual(["call / in"]);
  });

  test("PipelineRows folds ten thousand calls, each with a job of its own", () => {
    const events = Array.from({ length: 10_000 }, (_, n) => [
      [decided("in"), `c${n} / `] as const,
      [ended("in"), `c${n} / `] as const,
      [ended(`c${n}`)] as const,
    ]);
    expect(rowsOf(events.flat())).toHaveLength(10_000);
  });
});
