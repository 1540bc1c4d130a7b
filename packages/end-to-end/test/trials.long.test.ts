import { describe, expect, test } from "vitest";
import { TRIALS } from "../src/trials/all.ts";
import { runTrial } from "../src/trial.ts";

// The same attempts in every run; `pnpm faults` makes many more of them, with new seeds.
const SEED = Number(process.env["STEPS_SEED"] ?? 20261122);

describe("what must hold whatever happens, attempted a few times", () => {
  test.each(TRIALS.filter(({ smallCount }) => smallCount > 0))("$name", { timeout: 180_000 }, async (trial) => {
    const report = await runTrial(trial, { count: trial.smallCount, seed: SEED, isSmall: true });
    expect(report.failures).toEqual([]);
    expect(report.held).toBe(trial.smallCount);
  });

  test("an attempt that fails, throws or does not end is told with its seed", async () => {
    const attempts = [
      async () => ({ failure: "it did not hold", measured: { kills: 1, "largest wait": 3 } }),
      async () => ({ measured: { kills: 2, "largest wait": 2 } }),
      () => Promise.reject(new Error("it threw")),
      () => new Promise<never>(() => undefined),
    ];
    const report = await runTrial(
      {
        name: "four",
        holds: "",
        count: 4,
        smallCount: 4,
        limitMs: 50,
        attempt: ({ seed }) => (attempts[seed - 7] as (typeof attempts)[number])(),
      },
      { count: 4, seed: 7, isSmall: true },
    );
    expect(report.held).toBe(1);
    expect(report.failures.map(({ seed, reason }) => [seed, reason.split("\n")[0]])).toEqual([
      [7, "it did not hold"],
      [9, "Error: it threw"],
      [10, "It had not ended after 0.05 s"],
    ]);
    expect(report.measured).toEqual({ kills: 3, "largest wait": 3 });
  });
});
