import { describe, expect, test } from "vitest";
import { evaluateCondition } from "./condition.ts";
import type { EvaluateOptions, StatusFacts } from "./evaluation.ts";

const afterSuccess: StatusFacts = { isSuccess: true, isFailure: false, isCancelled: false };
const afterFailure: StatusFacts = { isSuccess: false, isFailure: true, isCancelled: false };
const afterCancel: StatusFacts = { isSuccess: false, isFailure: false, isCancelled: true };
const contexts = {
  github: { ref: "refs/heads/x", token: "ghs_token1", event: { draft: false, labels: ["a"] } },
  inputs: { flag: "", on: "yes", off: "false", number: 0, leaked: "Bearer ghs_token1", secret: "s3cret" },
  secrets: { KEY: "s3cret", LONG: `${"k".repeat(50)}-end` },
  env: { LONG: `say ${"k".repeat(50)}-end` },
};

function holds(text: string | undefined, status: StatusFacts): boolean {
  return evaluateCondition(text, { contexts, status }).holds;
}

describe("which steps run", () => {
  test.each<[text: string | undefined, success: boolean, failure: boolean, cancel: boolean]>([
    [undefined, true, false, false],
    ["", true, false, false],
    [" \n", true, false, false],
    ["true", true, false, false],
    ["${{ true }}", true, false, false],
    ["false", false, false, false],
    ["inputs.on", true, false, false],
    ["inputs.off", true, false, false],
    ["inputs.flag", false, false, false],
    ["inputs.missing", false, false, false],
    ["github.event.labels", true, false, false],
    ["github.event.draft", false, false, false],
    ["inputs.number", false, false, false],
    ["success()", true, false, false],
    ["failure()", false, true, false],
    ["cancelled()", false, false, true],
    ["always()", true, true, true],
    ["!cancelled()", true, true, false],
    ["${{ !cancelled() }}", true, true, false],
    ["! failure ( )", true, false, true],
    ["ALWAYS()", true, true, true],
    ["always() && inputs.flag", false, false, false],
    ["inputs.on && failure()", false, true, false],
    ["success() || failure()", true, true, false],
    ["contains(inputs.on, 'always()')", false, false, false],
    ["inputs.on == 'always()' || true", true, false, false],
    ["format('{0}', always())", true, true, true],
    ["case(failure(), true, inputs.on == 'yes')", true, true, true],
    // Text around the braces makes a text of it, which is never empty.
    ["x ${{ false }}", true, false, false],
    ["${{ false }}\n", true, false, false],
    ["!${{ true }}", true, false, false],
    ["${{ false }} && ${{ false }}", true, false, false],
    ["success() && ${{ false }}", true, false, false],
    ["${{ always() }} x", true, true, true],
    ["${{ '' }}${{ null }}", false, false, false],
  ])("%j", (text, success, failure, cancel) => {
    expect([holds(text, afterSuccess), holds(text, afterFailure), holds(text, afterCancel)]).toEqual([
      success,
      failure,
      cancel,
    ]);
  });

  test("needs no status where there is none", () => {
    expect(evaluateCondition(undefined, { contexts }).holds).toBe(true);
    expect(evaluateCondition("inputs.on == 'YES'", { contexts }).holds).toBe(true);
    expect(() => evaluateCondition("success()", { contexts })).toThrow('The function "success" is not available here');
  });

  test("is not evaluated after a failure, unless it asks for the status", () => {
    const options: EvaluateOptions = { contexts, status: afterFailure };
    expect(evaluateCondition("fromJSON('')", options).holds).toBe(false);
    expect(() => evaluateCondition("failure() && fromJSON('')", options)).toThrow("empty text");
  });

  test("gives errors a place in the whole text", () => {
    const text = "${{ inputs.on && nope }}";
    expect(() => evaluateCondition(text, { contexts, status: afterSuccess })).toThrow(
      expect.objectContaining({ code: "UNKNOWN_NAME", offset: text.indexOf("nope"), length: 4 }),
    );
    expect(() => evaluateCondition("inputs.on ==", { contexts })).toThrow(
      expect.objectContaining({ code: "UNEXPECTED_END", offset: 12 }),
    );
  });
});

describe("explanations", () => {
  test.each([
    [undefined, "`success()` is true"],
    ["github.ref == 'refs/heads/main'", "`github.ref == 'refs/heads/main'` is false (\"refs/heads/x\")"],
    ["github.ref != 'refs/heads/main'", "`github.ref != 'refs/heads/main'` is true (\"refs/heads/x\")"],
    ["inputs.on == 'yes' && github.ref == 'main'", "`github.ref == 'main'` is false (\"refs/heads/x\")"],
    ["inputs.flag && inputs.on", '`inputs.flag` is ""'],
    ["inputs.flag || inputs.missing", '`inputs.flag` is "" and `inputs.missing` is null'],
    ["inputs.flag || inputs.on == 'yes'", "`inputs.on == 'yes'` is true (\"yes\")"],
    ["inputs.on && inputs.off", '`inputs.on` is "yes" and `inputs.off` is "false"'],
    [
      "inputs.on == 'no' || (inputs.off && inputs.flag)",
      '`inputs.on == \'no\'` is false ("yes") and `inputs.flag` is ""',
    ],
    ["!inputs.on", '`!inputs.on` is false ("yes")'],
    ["!(inputs.on == 'yes')", "`!(inputs.on == 'yes')` is false (\"yes\")"],
    ["inputs.on == inputs.off", '`inputs.on == inputs.off` is false ("yes" and "false")'],
    ["contains(github.ref, 'tags')", "`contains(github.ref, 'tags')` is false (\"refs/heads/x\")"],
    [
      "startsWith(github['ref'], inputs.on)",
      '`startsWith(github[\'ref\'], inputs.on)` is false ("refs/heads/x" and "yes")',
    ],
    ["cancelled()", "`cancelled()` is false"],
    ["inputs.number", "`inputs.number` is 0"],
    ["github.event.draft", "`github.event.draft` is false"],
    ["github.event.labels", "`github.event.labels` is an array"],
    ["github.event", "`github.event` is an object"],
    ["github.event.labels.*[0]", "`github.event.labels.*[0]` is an array"],
    ["true == ('it''s' > 1)", "`true == ('it''s' > 1)` is false"],
    ["x ${{ 1 }}", "the condition is a text, which is always true"],
    ["${{ '' }}${{ '' }}", "the condition is an empty text"],
  ])("%j: %s", (text, explanation) => {
    expect(evaluateCondition(text, { contexts, status: afterSuccess }).explanation).toBe(explanation);
  });

  test("says that a step before was no success", () => {
    const { explanation } = evaluateCondition("inputs.on", { contexts, status: afterFailure });
    expect(explanation).toBe("`success()` is false");
  });

  test.each([
    "secrets.KEY",
    "secrets.KEY == ''",
    "secrets.KEY == inputs.secret",
    "secrets['KEY'] != 'x'",
    "secrets[inputs.on]",
    "!secrets.KEY",
    "contains(secrets.KEY, 's3')",
    "startsWith(inputs.secret, 'x') || endsWith(inputs.secret, 'y')",
    "github.token",
    "github.TOKEN == 'x'",
    "github['Token'] == 'x'",
    "github[format('to{0}', 'ken')] == 'x'",
    "contains(github.*, 'x')",
    "contains(toJSON(github), 'x')",
    "toJSON(secrets) == 'x'",
    "inputs.leaked == 'x'",
    "format('{0}', inputs.leaked)",
    "inputs.secret",
    "env.LONG == 'x'",
    "case(true, secrets.KEY, 1)",
    "case(github.ref == 'x', 1, secrets.KEY)",
  ])("shows no secret in %s", (text) => {
    for (const set of [contexts, lazily()]) {
      const { explanation } = evaluateCondition(text, { contexts: set });
      expect(explanation).not.toMatch(/s3cret|ghs_token|kkk/);
      expect(explanation).toContain("`");
    }
  });

  test("says of a secret whether it is there", () => {
    expect(evaluateCondition("secrets.KEY", { contexts }).explanation).toBe("`secrets.KEY` is set");
    expect(evaluateCondition("secrets.NONE", { contexts }).explanation).toBe("`secrets.NONE` is empty");
  });

  test("shows what of github is no secret", () => {
    const { explanation } = evaluateCondition("github.event.token == 'x'", { contexts });
    expect(explanation).toBe("`github.event.token == 'x'` is false (null)");
  });
});

// The values are looked for in what was made; here, everything was.
function lazily(): EvaluateOptions["contexts"] {
  const set = { ...contexts, github: () => contexts.github, secrets: () => contexts.secrets };
  evaluateCondition("github.ref && secrets.KEY", { contexts: set });
  return set;
}

describe("warnings", () => {
  test.each(["x ${{ false }}", "${{ false }} && true", "${{ false }} || ${{ false }}", "!${{ true }}"])(
    "warns of %j",
    (text) => {
      const warning = `Text outside of \${{ }} makes the condition a text, which is always true: ${JSON.stringify(text)}`;
      expect(evaluateCondition(text, { contexts }).warning).toBe(warning);
    },
  );

  test("warns also where success is missing, and of white space", () => {
    const { warning, holds } = evaluateCondition("${{ false }}\n", { contexts, status: afterFailure });
    expect(warning).toMatch(/^White space outside/);
    expect(holds).toBe(false);
  });

  test.each(["true", "${{ false }}", "inputs.on"])("has none for %j", (text) => {
    expect(evaluateCondition(text, { contexts })).not.toHaveProperty("warning");
  });
});
