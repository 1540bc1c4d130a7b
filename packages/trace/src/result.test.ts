import { StepResultSchema } from "@steps/proto";
import { sensitive } from "@steps/model";
import type { StepEvent } from "@steps/model/event";
import { describe, expect, test } from "vitest";
import { exampleRun, execStep, jobFinished, jobOpened, resultOf, runStarted } from "../test/events.ts";
import { fromJson, toJson } from "../test/protobuf.ts";

describe("createResultTree()", () => {
  test("gives GitLab's result: literal paths, the whole environment, zero values left out", () => {
    const result = resultOf(exampleRun());
    expect(result.step).toEqual({});
    expect(result.env).toEqual({ PATH: "/bin", TOKEN: "[MASKED]", LEVEL: "job" });
    const [a] = result.subStepResults ?? [];
    expect(a).toMatchObject({
      step: {
        name: "a",
        inputs: { text: "hello" },
        step: { protocol: "git", url: "https://example.com/echo.git", version: "main" },
      },
      status: "success",
      outputs: { result: "/one/work/result" },
      exports: { ADDED: "by a" },
      env: { PATH: "/bin", HOME: "/one/work/home", TOKEN: "[MASKED]" },
      execResult: { command: ["echo", "/one/work/file", "--out=/one/tmp/output"], workDir: "/one/work" },
    });
    expect(a?.execResult).not.toHaveProperty("exitCode");
    expect(toJson(StepResultSchema, fromJson(StepResultSchema, result))).toEqual(JSON.parse(JSON.stringify(result)));
  });

  test("tells exit codes, and masks in part what holds a secret", () => {
    const result = resultOf(exampleRun({ exitCode: 3, outputs: { a: sensitive(1), b: ["x", sensitive("secret-1")] } }));
    expect(result).toMatchObject({ status: "failure" });
    expect(result.subStepResults?.[1]).toMatchObject({
      status: "failure",
      execResult: { exitCode: 3 },
      outputs: { a: "[MASKED]", b: ["x", "[MASKED]"] },
    });
  });

  test.each([
    ["error", "failure"],
    ["timeout", "failure"],
    ["interrupted", "failure"],
    ["failure", "failure"],
    ["cancelled", "cancelled"],
    ["skipped", "success"],
  ] as const)("reports %s as %s", (status, reported) => {
    const events = exampleRun().map((event) => (event.type === "step-finished" ? { ...event, status } : event));
    expect(resultOf(events).subStepResults?.map((result) => result.status)).toEqual([reported, reported]);
  });

  test("has no result of a step that could not be loaded", () => {
    const events: StepEvent[] = [
      runStarted(),
      ...jobOpened(),
      ...execStep({ path: "0", name: "a" }),
      { type: "step-opened", at: 0, path: "1", name: "gone" },
      { type: "step-finished", at: 0, path: "1", status: "error", outputs: {}, exports: {} },
      ...jobFinished("failure"),
    ];
    expect(resultOf(events).subStepResults?.map((result) => result.step?.name)).toEqual(["a"]);
  });

  test("says that a run is running while it is", () => {
    expect(resultOf(exampleRun().slice(0, 7))).toMatchObject({
      status: "running",
      subStepResults: [{ status: "running" }],
    });
  });
});
