import { describe, expect, test } from "vitest";
import { inOrder, RowOrder } from "./row-order.ts";

describe("inOrder()", () => {
  test("inOrder() puts each job behind those that it needs, and leaves the rest as it is", () => {
    const jobs = [
      { id: "deploy", needs: ["test", "gone"] },
      { id: "build", needs: [] },
      { id: "test", needs: ["build", "lint"] },
      { id: "lint", needs: [] },
    ];
    expect(inOrder(jobs)).toEqual(["build", "lint", "test", "deploy"]);
  });

  test("inOrder() takes a chain of any depth", () => {
    const count = 50_000;
    const jobs = Array.from({ length: count }, (_, index) => ({
      id: `${index}`,
      needs: index === 0 ? [] : [`${index - 1}`],
    }));
    expect(inOrder(jobs.toReversed())).toEqual(jobs.map(({ id }) => id));
  });
});

describe("RowOrder", () => {
  test("RowOrder puts the jobs of a child behind the job that starts it, and what was not planned last", () => {
    const order = new RowOrder();
    order.planned(
      [
        { id: "a", needs: [] },
        { id: "child", needs: [], stage: "x" },
        { id: "z", needs: [] },
      ],
      "",
      " / ",
    );
    order.planned(
      [
        { id: "two", needs: ["one"] },
        { id: "one", needs: [] },
      ],
      "child / ",
      " / ",
    );
    order.decided("z", ["z (10)", "z (9)"]);
    const rows = ["other", "z (9)", "z (10)", "child / two", "child / one", "a"].map((job) => ({ job }));
    expect(order.sorted(rows).map(({ job }) => job)).toEqual([
      "a",
      "child / one",
      "child / two",
      "z (10)",
      "z (9)",
      "other",
    ]);
    expect([order.stageOf("child"), order.stageOf("a")]).toEqual(["x", undefined]);
  });
});
