import { sensitive } from "@steps/model";
import type { StepEvent } from "@steps/model/event";
import { canonicalJson } from "@steps/model/value";
import { describe, expect, test } from "vitest";
import { component, exampleRun, execStep, fold, jobOpened, runStarted } from "../test/events.ts";
import { parseJournal } from "./entries/journal.ts";
import { createMasker, createRedactor } from "./entries/mask.ts";
import { createRecorder, jobOf, verifyTrace } from "./index.ts";

describe("createRecorder()", () => {
  test("names places instead of paths in the deterministic half", () => {
    const { trace } = fold(exampleRun());
    const [a] = trace.root?.children ?? [];
    expect(a?.det).toMatchObject({
      component: 0,
      subpath: "steps/step.yml",
      type: "exec",
      status: "success",
      exitCode: 0,
      command: ["echo", "{{work_dir}}/file", "--out={{output_file}}"],
      workDir: "{{work_dir}}",
      env: {
        PATH: { value: "/bin" },
        HOME: { value: "{{work_dir}}/home" },
        TOKEN: { redacted: { reason: "sensitive" } },
      },
      outputs: { result: { value: "{{work_dir}}/result" } },
      exports: { ADDED: { value: "by a" } },
      tools: [1],
    });
    expect(JSON.stringify(trace.root?.children?.map((child) => child.det))).not.toContain("/one/");
    expect(a?.obs).toMatchObject({ durationMs: 250, pid: 4242, fetch: { bytes: "1234", durationMs: 3.5 } });
    expect(trace.request).toMatchObject({
      workDir: "/one/work",
      baseDir: "ci",
      vars: { CI_COMMIT_REF_NAME: { value: "main" } },
    });
  });

  test("replaces a place at the borders of a path only, the longest first, also deep inside values", () => {
    const outputs = {
      a: "/one/workshop /one/work /x/one/work /one/work: (/one/work/a)",
      b: { list: ["/one/tmp/output", "/one/tmp/output2", "/one/tmp"] },
    };
    const { trace } = fold(exampleRun({ outputs }));
    expect(trace.root?.children?.[1]?.det?.outputs).toEqual({
      a: { value: "/one/workshop {{work_dir}} /x/one/work {{work_dir}}: ({{work_dir}}/a)" },
      b: { value: { list: ["{{output_file}}", "{{job_tmp}}/output2", "{{job_tmp}}"] } },
    });
  });

  test("names the stores of a job instead of their paths, so that a replay knows them", () => {
    const run = (store: string, stores?: readonly string[]) => {
      const inputs = { artifacts_dir: store, other: "/one/other" };
      const events = exampleRun({ outputs: { result: `${store}/a ${store}2` } }).map((event): StepEvent => {
        if (event.type === "run-started") return { ...event, job: { ...event.job, inputs, stores } };
        return event.type === "step-planned" && event.path === "" ? { ...event, inputs } : event;
      });
      return fold(events).trace;
    };
    const trace = run("/one/store", ["artifacts_dir"]);
    expect(trace.root?.det?.inputs).toEqual({
      artifacts_dir: { value: "{{artifacts_dir}}" },
      other: { value: "/one/other" },
    });
    expect(trace.root?.children?.[1]?.det?.outputs).toEqual({ result: { value: "{{artifacts_dir}}/a /one/store2" } });
    expect(jobOf(trace).job).toMatchObject({ inputs: { artifacts_dir: "/one/store" }, stores: ["artifacts_dir"] });
    const plain = run("/one/store");
    expect(plain.root?.det?.inputs?.["artifacts_dir"]).toEqual({ value: "/one/store" });
    expect(jobOf(plain).job.stores).toBeUndefined();
  });

  test("holds each component once, whoever uses it", () => {
    const again = exampleRun().map((event) =>
      event.type === "component-resolved"
        ? { ...event, resource: { ...component, digest: { ...component.digest } } }
        : event,
    );
    expect(fold(again).trace.resources).toHaveLength(2);
  });

  test("has equal fingerprints for equal runs in other directories, at other times, with other secrets", () => {
    const secretOf = (value: string) => (event: StepEvent) =>
      event.type === "process-starting"
        ? { ...event, at: event.at + 5, env: { ...event.env, TOKEN: sensitive(value) } }
        : event;
    const one = fold(exampleRun().map(secretOf("first-secret"))).trace;
    const two = fold(exampleRun({ dir: "/two/other" }).map(secretOf("second-secret"))).trace;
    expect(two.fingerprints).toEqual(one.fingerprints);
    expect(fold(exampleRun({ outputs: { result: "else" } })).trace.fingerprints?.core).not.toBe(one.fingerprints?.core);
    const log = fold(exampleRun({ stdout: "else\n" })).trace;
    expect(log.fingerprints?.core).toBe(one.fingerprints?.core);
    expect(log.fingerprints?.full).not.toBe(one.fingerprints?.full);
  });

  test("does not let the order of components change a fingerprint", () => {
    const early: StepEvent = {
      type: "component-resolved",
      at: 0,
      path: "",
      resource: { ...component, uri: "https://example.com/first.git", digest: { gitTree: "9".repeat(64) } },
      fetch: { isHit: true, bytes: 0, durationMs: 0 },
    };
    const [started, ...rest] = exampleRun() as [StepEvent, ...StepEvent[]];
    const moved = fold([started, early, ...rest]).trace;
    expect(moved.root?.children?.[0]?.det?.component).toBe(1);
    expect(moved.fingerprints).toEqual(fold(exampleRun()).trace.fingerprints);
  });

  test("marks what did not end as interrupted, after any number of events", () => {
    const events = exampleRun();
    const redactor = createRedactor(createMasker());
    const recorder = createRecorder();
    for (const event of events) {
      recorder.apply(redactor.redact(event));
      const trace = recorder.trace({ journalRoot: "0".repeat(64), journalEvents: 1 });
      expect(verifyTrace(trace)).toEqual([]);
      const statuses = [trace.root, ...(trace.root?.children ?? [])].filter(
        (step) => step?.det?.status === "interrupted",
      );
      expect(statuses.map((step) => step?.path ?? "")).toEqual([...recorder.openSteps]);
    }
    expect(recorder.openSteps).toEqual([]);
  });

  test("takes the end of the run for that of a job that never became a step", () => {
    const outcome = {
      status: "error",
      exitCode: 2,
      error: { code: "COMPILE_FAILED", message: "It is wrong" },
    } as const;
    const { trace } = fold([runStarted(), { type: "run-finished", at: 2, outcome, outputs: {} }]);
    expect(trace.root).toMatchObject({
      det: { status: "error", exitCode: 2 },
      obs: { error: { code: "COMPILE_FAILED" } },
    });
  });

  test("tells what the runner had to say", () => {
    expect(fold(exampleRun()).trace.notes).toEqual(["warning: The form is deprecated [old-form]"]);
  });

  test("gives a trace of any numbers, also of those that JSON does not have", () => {
    const odd = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 5e-324, 1.5];
    for (const number of odd) {
      const outputs = { result: [number, { deep: number }] };
      const events = exampleRun({ outputs, inputs: { text: number }, exitCode: number });
      const { trace, journal } = fold(events);
      expect(verifyTrace(trace)).toEqual([]);
      expect(parseJournal(journal).events).toHaveLength(events.length);
    }
  });

  test("survives events that fit nowhere", () => {
    const { trace } = fold([...execStep({ path: "3/1", name: "x", at: Number.NaN }), ...jobOpened()]);
    expect(trace.root?.children?.[0]?.children?.[0]?.name).toBe("x");
    expect(canonicalJson(trace)).toBeTypeOf("string");
  });
});
