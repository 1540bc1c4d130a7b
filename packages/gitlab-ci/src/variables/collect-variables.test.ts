import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  collectVariables,
  collectVariablesOfRules,
  plainVariables,
  VARIABLE_SOURCES,
  type VariableSource,
} from "./collect-variables.ts";
import { expandVariables } from "./expand-variables.ts";

const one = (value: string): ReadonlyMap<string, { value: string; isRaw: boolean }> =>
  new Map([["A", { value, isRaw: false }]]);

describe("collectVariables()", () => {
  test("collectVariables() takes each variable from the source that stands last in the order", () => {
    const sources = fc.uniqueArray(fc.constantFrom(...VARIABLE_SOURCES), { minLength: 1 });
    fc.assert(
      fc.property(sources, (given) => {
        const collected = collectVariables(Object.fromEntries(given.map((source) => [source, one(source)])));
        const last = VARIABLE_SOURCES.findLast((source) => given.includes(source));
        expect(collected.get("A")).toMatchObject({ value: last, source: last });
      }),
    );
  });

  // https://docs.gitlab.com/ci/variables/#cicd-variable-precedence
  test.each<[VariableSource, VariableSource]>([
    ["pipeline", "project"],
    ["project", "group"],
    ["group", "instance"],
    ["instance", "dotenv"],
    ["dotenv", "job"],
    ["rule", "job"],
    ["matrix", "job"],
    ["job", "workflow"],
    ["workflow", "global"],
    ["global", "deployment"],
    ["deployment", "predefined"],
  ])("collectVariables() lets %s win over %s", (winner, loser) => {
    const collected = collectVariables({ [loser]: one("loser"), [winner]: one("winner") });
    expect(collected.get("A")?.value).toBe("winner");
  });

  test("collectVariables() keeps what is hidden for references, but not among the files", () => {
    const collected = collectVariables({
      predefined: one("predefined"),
      global: one("global"),
      job: one("$A-job"),
      project: one("$A-project"),
    });
    expect(expandVariables(collected).values["A"]).toBe("predefined-job-project");
  });

  test("collectVariablesOfRules() leaves out what is known later", () => {
    const sources = { job: one("job"), rule: one("rule"), dotenv: one("dotenv"), environment: one("environment") };
    expect(collectVariablesOfRules(sources).get("A")?.value).toBe("job");
    expect(collectVariables(sources).get("A")?.value).toBe("environment");
  });

  test("plainVariables() are taken as they stand", () => {
    const collected = collectVariables({ predefined: plainVariables({ MESSAGE: "costs $5 and $A" }), job: one("a") });
    expect(expandVariables(collected).values["MESSAGE"]).toBe("costs $5 and $A");
  });
});
