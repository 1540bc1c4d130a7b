import { sensitive } from "@steps/model";
import { describe, expect, it } from "vitest";
import { component, exampleRun, fold, job, reference, runStarted } from "../test/events.ts";
import { type JournalEvent, createRecorder, pinsOf, requestOf } from "./index.ts";

describe("pinsOf()", () => {
  const pins = pinsOf(fold(exampleRun()).trace);

  it("finds what a reference stood for, with credentials or not", () => {
    expect(pins.find("git", component.uri, "main")).toEqual(component);
    expect(pins.find("git", reference.url, "main")).toEqual(component);
    expect(pins.find("git", component.uri, "other")).toBeUndefined();
    expect(pins.find("zip", component.uri, "main")).toBeUndefined();
  });

  it("finds a zip by its digest and without", () => {
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

describe("requestOf()", () => {
  it("gives what was asked for, and names what must be supplied again", () => {
    const events = [
      runStarted(),
      { type: "variable-read", at: 0, path: "0", name: "DEPLOY_KEY", value: sensitive("deploy-key") } as const,
      { type: "variable-read", at: 0, path: "0", name: "BRANCH", value: "main" } as const,
    ];
    expect(requestOf(fold(events).trace)).toEqual({
      definition: {
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
      jobName: "build",
      source: "steps.yml",
      workDir: "/one/work",
      baseDir: "ci",
      entry: "ci",
      missing: [
        { kind: "variable", name: "DEPLOY_KEY" },
        { kind: "env", name: "TOKEN" },
      ],
    });
  });

  it("refuses a trace without a request, or with a broken one", () => {
    expect(() => requestOf({ formatVersion: 1 })).toThrow(expect.objectContaining({ code: "TRACE_INVALID" }));
    expect(() => requestOf({ request: { definition: { definition: {} } } })).toThrow(
      "Cannot replay trace: its definition is malformed",
    );
  });
});
