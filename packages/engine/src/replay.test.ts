import type { Comparison, Difference } from "@steps/trace/compare";
import { describe, expect, test } from "vitest";
import { verdictOf } from "./replay.ts";

function comparison(...found: readonly (readonly [kind: string, severity: Difference["severity"]])[]): Comparison {
  const differences = found.map(([kind, severity]) => ({
    path: "0", step: "a", pointer: `/det/${kind}`, kind, severity, expected: "x", actual: "y",
  })); // oxfmt-ignore
  return { verdict: found[0]?.[1] ?? "identical", steps: [], differences, ignored: [] };
}

describe("verdictOf()", () => {
  test.each<[string, Comparison, string]>([
    ["nothing", comparison(), "same"],
    [
      "drift that does not count",
      comparison(["stdout", "drift"], ["tools", "drift"], ["runtime", "normalised"]),
      "same",
    ],
    ["drift that counts", comparison(["stdout", "different"], ["tools", "different"]), "runtime-drift"],
    ["another machine", comparison(["runtime", "different"]), "runtime-drift"],
    ["another output", comparison(["outputs", "different"]), "different"],
    ["another output and drift", comparison(["runtime", "different"], ["status", "different"]), "different"],
    ["another output that does not count", comparison(["stderr", "different"], ["outputs", "drift"]), "runtime-drift"],
  ])("of %s", (_name, found, verdict) => {
    expect(verdictOf(found)).toBe(verdict);
  });
});
