import { type RuntimeString, sensitive } from "@steps/model";
import { describe, expect, test } from "vitest";
import { component, exampleRun, fold, job, reference, runStarted, SECRET } from "../test/events.ts";
import type { JournalEvent } from "./entries/journal.ts";
import { createRecorder, jobOf, pinsOf } from "./index.ts";

describe("pinsOf()", () => {
  const pins = pinsOf(fold(exampleRun()).trace);

  test("finds what a reference stood for, with credentials or not", () => {
    expect(pins.find("git", component.uri, "main")).toEqual(component);
    expect(pins.find("git", reference.url, "main")).toEqual(component);
    expect(pins.find("git", component.uri, "other")).toBeUndefined();
    expect(pins.find("zip", component.uri, "main")).toBeUndefined();
  });

  test("finds a zip by its digest and without", () => {
    const sha256 = "7".repeat(64);
    const zip = {
      ...component,
      kind: "zip",
      uri: "https://example.com/a.zip",
      requestedVersion: "",
      digest: { sha256 },
    } as const;
    const resolved = {
      type: "component-resolved",
      at: 0,
      path: "0",
      resource: zip,
      fetch: { isHit: true, bytes: 0, durationMs: 0 },
    };
    const recorder = createRecorder();
    recorder.apply(resolved as JournalEvent);
    const found = pinsOf(recorder.trace({ journalRoot: "", journalEvents: 1 }));
    expect(found.find("zip", zip.uri, sha256)).toEqual(zip);
    expect(found.find("zip", zip.uri, "")).toEqual(zip);
    expect(found.find("zip", zip.uri, "8".repeat(64))).toBeUndefined();
  });
});

describe("jobOf()", () => {
  test("gives the job that ran, and names what must be supplied again", () => {
    const events = [
      runStarted(),
      { type: "variable-read", at: 0, path: "0", name: "DEPLOY_KEY", value: sensitive("deploy-key") } as const,
      { type: "variable-read", at: 0, path: "0", name: "BRANCH", value: "main" } as const,
    ];
    expect(jobOf(fold(events).trace)).toEqual({
      job: {
        entry: "replay",
        name: "build",
        source: "steps.yml",
        specDefinition: {
          ...job,
          definition: {
            ...job.definition,
            steps: [
              {
                ...(job.definition.type === "steps" ? job.definition.steps[0] : {}),
                step: { ...reference, url: "https://example.com/echo.git" },
              },
            ],
          },
        },
        inputs: {},
        vars: { BRANCH: "main" },
        env: { PATH: "/bin" },
        offeredEnv: {},
        mode: {},
      },
      workDir: "/one/work",
      baseDir: "ci",
      redactedTexts: [],
      missing: [
        { kind: "variable", name: "DEPLOY_KEY", reason: "sensitive" },
        { kind: "env", name: "TOKEN", reason: "sensitive" },
      ],
    });
  });

  test("tells the texts of the definition that are not what ran, and only these", () => {
    const script = (text: string, env: Record<string, string> = {}) => ({
      name: "",
      step: { kind: "dist" as const, path: "script" },
      inputs: { script: text },
      env,
    });
    const steps = [script("echo [MASKED]"), script("echo hunter2secret"), script("x", { "a/b": `x ${SECRET}` })];
    const specDefinition = { ...job, definition: { ...job.definition, steps } } as typeof job;
    const started = runStarted({ env: { A: sensitive("hunter2secret"), B: sensitive(SECRET) } });
    if (started.type !== "run-started") throw new Error("Not the start of a run");
    const { trace } = fold([{ ...started, job: { ...started.job, specDefinition } }]);
    const { job: recorded, redactedTexts } = jobOf(trace);
    expect(redactedTexts).toEqual(["/definition/steps/1/inputs/script", "/definition/steps/2/env/a~1b"]);
    expect(JSON.stringify(recorded.specDefinition)).toContain("echo [MASKED]");
  });

  test("tells why a value is missing", () => {
    const read = (name: string, value: RuntimeString) =>
      ({ type: "variable-read", at: 0, path: "0", name, value }) as const;
    const events = [
      runStarted({ env: {} }),
      read("A", sensitive(SECRET)),
      read("B", SECRET),
      read("C", "x".repeat(2e6)),
    ];
    expect(jobOf(fold(events).trace).missing.map(({ name, reason }) => `${name} ${reason}`)).toEqual([
      "A sensitive",
      "B masked_value",
      "C too_large",
    ]);
  });

  test("refuses a trace without a job, or with a broken one", () => {
    expect(() => jobOf({ formatVersion: 1 })).toThrow(expect.objectContaining({ code: "TRACE_INVALID" }));
    expect(() => jobOf({ request: { definition: { definition: {} } } })).toThrow(
      "Cannot replay trace: its definition is malformed",
    );
  });
});
