import { describe, expect, test } from "vitest";
import { call, run, sequence, sh } from "./harness.ts";

describe("variables that the job does not have", () => {
  const shown = sh("echo [${{ vars.NONE }}] ${{ vars['NONE'] }}");
  const twice = sequence([call("a", "./a"), call("b", "./a")]);
  const unknown = (events: Awaited<ReturnType<typeof run>>["events"]) =>
    events.flatMap((event) => (event.type === "note" && event.code === "unknown-variable" ? [event.message] : []));

  test("are empty, which is said once for each name", async () => {
    const ran = await run(twice, { steps: { "./a": shown }, vars: { NINE: "9" } });
    expect(ran.output).toBe("[]\n[]\n");
    expect(unknown(ran.events)).toEqual([
      'The job has no variable "NONE", so vars.NONE is empty; did you mean "NINE"?',
    ]);
  });

  test("are errors where the mode of the job says so", async () => {
    const ran = await run(twice, { steps: { "./a": shown }, mode: { isStrictVars: true } });
    expect(ran.outcome.error?.code).toBe("EXPRESSION_FAILED");
    expect(unknown(ran.events)).toEqual([]);
  });
});
