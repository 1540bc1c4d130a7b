import { describe, expect, test } from "vitest";
import { jobsBehind } from "./jobs-behind.ts";

const job = (name: string, stage_index: number, needs: readonly string[] | null = null) => ({
  name,
  stage_index,
  needs,
});

describe("jobsBehind()", () => {
  test("finds jobs that wait by way of others, through needs and through stages", () => {
    const first = job("first", 1);
    const jobs = [
      first,
      job("beside", 1),
      job("free", 2, []),
      job("needs", 1, ["first"]),
      job("needs-that", 1, ["needs"]),
      job("later", 2),
      job("needs-all-that", 1, ["needs-that"]),
      job("needs-another", 3, ["beside"]),
    ];
    const behind = [...jobsBehind(first, jobs)].map(({ name }) => name).toSorted();
    expect(behind).toEqual(["later", "needs", "needs-all-that", "needs-that"]);
  });

  test("finds each of ten thousand jobs that stand in a row, the last one first", () => {
    const count = 10_000;
    const jobs = Array.from({ length: count }, (_, i) => job(`${i}`, 0, i === count - 1 ? [] : [`${i + 1}`]));
    expect(jobsBehind(job(`${count - 1}`, 0, []), jobs).size).toBe(count - 1);
  });
});
