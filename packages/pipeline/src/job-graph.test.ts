import { describe, expect, test } from "vitest";
import { graphProblems } from "./job-graph.ts";

const job = (id: string, ...needs: string[]): { id: string; needs: string[] } => ({ id, needs });

describe("graphProblems()", () => {
  test("finds none where every need is there and nothing turns back", () => {
    expect(graphProblems([job("a"), job("b", "a"), job("c", "a", "b"), job("d", "b", "c")])).toEqual([]);
  });

  test("names each need that is not there, and each second job of a name", () => {
    expect(graphProblems([job("a", "x"), job("a", "y")])).toEqual([
      { kind: "duplicate", job: "a" },
      { kind: "unknown-need", job: "a", need: "x" },
      { kind: "unknown-need", job: "a", need: "y" },
    ]);
  });

  test("tells a circle in the order of its needs, also of one job", () => {
    expect(graphProblems([job("a", "a")])).toEqual([{ kind: "circle", jobs: ["a"] }]);
    expect(graphProblems([job("start", "a"), job("a", "b"), job("b", "c"), job("c", "a")])).toEqual([
      { kind: "circle", jobs: ["a", "b", "c"] },
    ]);
  });

  test("follows a chain of a hundred thousand jobs", () => {
    const chain = Array.from({ length: 100_000 }, (_, i) => job(String(i), ...(i === 0 ? [] : [String(i - 1)])));
    expect(graphProblems(chain.toReversed())).toEqual([]);
  });
});
