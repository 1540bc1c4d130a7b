import { childOf, readYaml, Report, type YamlMapping } from "@steps/source";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PUSH, variables } from "../../test/rules.ts";
import { decideJob } from "./decide.ts";
import { explainDecision } from "./explain-decision.ts";
import { readJobRules } from "./read-job-rules.ts";
import type { RuleReport } from "./rule-codes.ts";

describe("hostile rules", () => {
  const word = fc.constantFrom(
    "if",
    "changes",
    "exists",
    "when",
    "paths",
    "only",
    "except",
    "refs",
    "rules",
    "variables",
  );
  const scalar = fc.oneof(
    fc.constantFrom("$A", "$A =~ /(/", "main", "never", "/x/", "~", "5", "yes", "!reference [a]", "{a,b}**/["),
    fc.string({ maxLength: 10 }).map((text) => JSON.stringify(text)),
  );
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      scalar,
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
      fc
        .uniqueArray(fc.tuple(word, tie("value")), { maxLength: 3, selector: ([key]) => key })
        .map((entries) => `{${entries.map(([key, item]) => `${key}: ${item}`).join(", ")}}`),
    ),
  }));

  test("readJobRules() and decideJob() never throw", async () => {
    const job = fc.tuple(fc.constantFrom("rules", "only", "except", "when", "allow_failure"), value);
    await fc.assert(
      fc.asyncProperty(job, async ([key, text]) => {
        const { documents, isBroken } = readYaml(
          { name: "ci.yml", text: `{${key}: ${text}}` },
          { tags: ["!reference"] },
        );
        if (isBroken || childOf(documents[0], key) === undefined) return;
        const report: RuleReport = new Report();
        const rules = readJobRules(documents[0] as YamlMapping, { hasWorkflowRules: false }, report);
        const situation = { ...PUSH, changedFiles: () => ["a", "b"], trackedFiles: () => ["a", "b"] };
        const decision = await decideJob(rules, { situation, variables: variables({ A: "a" }) });
        expect(explainDecision(decision, { jobName: "j" }).length).toBeGreaterThan(0);
      }),
    );
  });
});
