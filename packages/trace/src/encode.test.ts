import { readFileSync } from "node:fs";
import { sensitive } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import { emptySpec, type ExecDefinition, type SpecDefinition } from "@steps/model/definition";
import { digestOf } from "@steps/platform";
import { TraceSchema } from "@steps/proto";
import type { TraceJson } from "@steps/proto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleRun, fold, jobOpened, resultOf, runStarted } from "../test/events.ts";
import { fromJson, toJson } from "../test/protobuf.ts";
import { assertReplayable, decodeTrace, encodePrototext, encodeTrace, verifyTrace } from "./index.ts";

const inner: ExecDefinition = { type: "exec", command: [""], env: {}, workDir: "" };
const { trace } = fold(exampleRun({ exitCode: 3, outputs: { a: null, b: [true, 1.5, { "a/b": "" }], c: 0, d: "" } }));
const text = encodeTrace(trace);

const redacted = fold(
  exampleRun({ exitCode: 3 }).map((event) =>
    event.type === "run-started"
      ? { ...event, job: { ...event.job, env: { ...event.job.env, S: sensitive("echo.git") } } }
      : event,
  ),
).trace;

const everyShape: SpecDefinition = {
  spec: {
    inputs: {
      a: { type: "string", isSensitive: true, default: "" },
      b: { type: "number", isSensitive: false, default: 0 },
      c: { type: "struct", isSensitive: false, default: { x: null, y: [], z: {}, "": false } },
      d: { type: "boolean", isSensitive: false, default: false },
      e: { type: "array", isSensitive: false },
    },
    outputs: { o: { type: "string", isSensitive: false, default: null } },
  },
  definition: {
    type: "steps",
    env: { EMPTY: "" },
    outputs: { o: -0, p: 1e21, q: [[]] },
    steps: [
      { name: "", step: { kind: "local", path: "." }, inputs: {}, env: {} },
      { name: "b", step: { kind: "zip", url: "a.zip", dir: "", file: "x.yml" }, inputs: { a: "" }, env: { X: "" } },
      { name: "c", step: { kind: "dynamic", text: "${{ inputs.a }}" }, inputs: {}, env: {} },
      {
        name: "d",
        step: { kind: "inline", specDefinition: { spec: emptySpec, definition: inner }, seesCallerInputs: true },
        inputs: {},
        env: {},
      },
    ],
  },
};

describe("encodeTrace()", () => {
  test("writes what protobuf reads, without a field of its own", () => {
    const message = fromJson(TraceSchema, JSON.parse(text));
    expect(toJson(TraceSchema, message)).toEqual(JSON.parse(text));
    expect(text.startsWith('{\n  "formatVersion": 1,\n  "traceId": ')).toBe(true);
    expect(text.endsWith("}\n")).toBe(true);
  });

  test("does not depend on the order of keys", () => {
    const reversed = (value: unknown): unknown => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(reversed);
      return Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([key, item]) => [key, reversed(item)]),
      );
    };
    expect(encodeTrace(reversed(trace) as TraceJson)).toBe(text);
  });
});

describe("decodeTrace()", () => {
  test("reads a trace back to the same text and fingerprints", async () => {
    const decoded = await decodeTrace(text);
    expect(encodeTrace(decoded)).toBe(text);
    expect(verifyTrace(decoded)).toEqual([]);
  });

  test("reads as protobuf does: both names of a field, numbers of enums, zero and unknown fields left out", async () => {
    const json = JSON.parse(text) as { formatVersion: number; resources: object[]; integrity: object };
    const { formatVersion, ...rest } = json;
    const odd = {
      ...rest,
      format_version: formatVersion,
      parentTraceId: "",
      notes: [],
      unknown: { a: 1 },
      runner: null,
      resources: json.resources.map((resource) => ({
        ...resource,
        mutableRef: false,
        kind: 1,
        futureField: true,
      })),
      integrity: { ...json.integrity, journalEvents: 15 },
    };
    const decoded = await decodeTrace(JSON.stringify(odd));
    expect(decoded).toEqual(toJson(TraceSchema, fromJson(TraceSchema, odd, { ignoreUnknownFields: true })));
    expect(decoded.resources?.[0]?.kind).toBe("git");
  });

  test.each([
    ["no JSON", "{", "the text is not JSON"],
    ["no object", "[]", "an object is expected"],
    ["no version", '{"root":{}}', 'it has no format version at "/formatVersion"'],
    ["no steps", '{"formatVersion":1}', 'it has no steps at "/root"'],
    ["a wrong type", '{"formatVersion":1,"root":{"det":{"command":"x"}}}', 'a list is expected at "/root/det/command"'],
    ["a wrong status", '{"formatVersion":1,"root":{"det":{"status":"great"}}}', 'is expected at "/root/det/status"'],
    [
      "a negative count",
      '{"formatVersion":1,"root":{},"integrity":{"journalEvents":"-1"}}',
      'at "/integrity/journalEvents"',
    ],
    ["a fraction", '{"formatVersion":1.5,"root":{}}', 'at "/formatVersion"'],
    ["a huge exit code", '{"formatVersion":1,"root":{"det":{"exitCode":4294967296}}}', 'at "/root/det/exitCode"'],
    ["a wrong time", '{"formatVersion":1,"root":{},"startedAt":"yesterday"}', 'at "/startedAt"'],
    [
      "two kinds of value",
      '{"formatVersion":1,"root":{"det":{"env":{"A":{"value":1,"redacted":{}}}}}}',
      'at "/root/det/env/A"',
    ],
    [
      "endless nesting",
      `{"formatVersion":1,"root":{"det":{"inputs":{"a":{"value":${"[".repeat(5000)}${"]".repeat(5000)}}}}}}`,
      "nested too deeply",
    ],
    [
      "endless steps",
      `{"formatVersion":1,"root":${'{"children":['.repeat(3000)}{}${"]}".repeat(3000)}}`,
      "nested too deeply",
    ],
  ])("refuses a text with %s", async (_, broken, problem) => {
    await expect(decodeTrace(broken)).rejects.toMatchObject({
      code: "TRACE_INVALID",
      message: expect.stringContaining(problem),
    });
  });

  test("keeps keys that are special to JavaScript", async () => {
    const special = text.replace('"PATH": {', '"__proto__": {');
    expect(encodeTrace(await decodeTrace(special))).toContain('"__proto__": {');
  });

  test("reads or refuses any JSON, and agrees with itself", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.constantFrom("request", "root", "notes", "integrity"), async (json, key) => {
        const candidate = `{"formatVersion":1,"root":{},"${key}":${json}}`;
        const decoded = await decodeTrace(candidate).catch((error: unknown) => error);
        if (decoded instanceof Error) expect(decoded).toMatchObject({ code: "TRACE_INVALID" });
        else expect(await decodeTrace(encodeTrace(decoded as TraceJson))).toEqual(decoded);
      }),
    );
  });
});

describe("assertReplayable()", () => {
  test("refuses a version that is not known, which may still be read", async () => {
    const newer = await decodeTrace(text.replace('"formatVersion": 1', '"formatVersion": 2'));
    expect(() => assertReplayable(newer)).toThrow("Cannot replay trace: its format version is 2, at most 1 is known");
    expect(() => assertReplayable(newer)).toThrow(expect.objectContaining({ code: "VERSION_UNSUPPORTED" }));
    expect(() => assertReplayable(trace)).not.toThrow();
  });
});

describe("verifyTrace()", () => {
  test.each([
    ["an exit code", /"exitCode": 3/, '"exitCode": 0'],
    ["a command", "{{work_dir}}/file", "{{work_dir}}/other"],
    ["an output", "{{work_dir}}/result", "else"],
    ["the digest of a component", "2".repeat(64), "4".repeat(64)],
    ["the digest of a tool", "3".repeat(64), "4".repeat(64)],
    ["a digest of a log", /"sha256": "[0-46-9a-f]{8}/, '"sha256": "55555555'],
    ["the machine", '"arch": "x64"', '"arch": "arm64"'],
    ["the name of a step", /"name": "a",(?=\s+"det")/, '"name": "z",'],
    ["a reference to nothing", '"component": 0', '"component": 77'],
    ["the definition of the request", '"LEVEL": "job"', '"LEVEL": "other"'],
    ["a variable of the request", '"value": "main"', '"value": "other"'],
    ["the environment of the request", /("env": \{\s+"PATH": \{\s+"value": ")/, "$1x"],
    ["where the request ran", '"workDir": "/one/work"', '"workDir": "/two/work"'],
    ["that a text was taken out of the request", '"redactedTexts"', '"unknown"'],
    ["the digest of the request", '"requestDigest"', '"unknown"'],
    ["a fingerprint", /("fingerprints": \{\s+"core": ")./, "$1_"],
  ])("finds that %s was changed", async (_, from, to) => {
    const whole = encodeTrace(redacted);
    expect(verifyTrace(await decodeTrace(whole))).toEqual([]);
    const changed = whole.replace(from, to);
    expect(changed).not.toBe(whole);
    expect(verifyTrace(await decodeTrace(changed))).not.toEqual([]);
  });

  test("finds a definition that another run was asked for, with its digest", () => {
    const other = { ...trace.request, definition: { ...trace.request?.definition, spec: {} } };
    const integrity = { ...trace.integrity, requestDigest: digestOf(other) };
    expect(verifyTrace({ ...trace, request: other, integrity })).toEqual([
      "The definition of the request is not the one that the job ran",
    ]);
  });

  test("finds nothing wrong with a definition of every shape", async () => {
    const started = runStarted();
    const [opened, planned] = jobOpened();
    if (started.type !== "run-started" || planned?.type !== "step-planned" || !opened) throw new Error("Not a run");
    const ofEveryShape = { ...started.job, specDefinition: everyShape };
    const definitionDigest = digestOf(encodeSpecDefinition(everyShape));
    const events = [
      { ...started, job: ofEveryShape },
      opened,
      { ...planned, specDefinition: everyShape, definitionDigest },
    ];
    const written = encodeTrace(fold(events).trace);
    expect(verifyTrace(await decodeTrace(written))).toEqual([]);
  });
});

describe("encodePrototext()", () => {
  test("writes GitLab's names, sorted maps and escaped texts", async () => {
    const outputs = { "k\n": 'a "b" \\ \u0001 é', list: [null, true, 1.5, { x: [] }] };
    const written = await encodePrototext(resultOf(exampleRun({ exitCode: 3, outputs })));
    await expect(written).toMatchFileSnapshot("../test/result.txtpb");
  });

  test("leaves out the fields that GitLab does not know", async () => {
    const step = { step: { protocol: "zip", url: "https://example.com/a.zip", sha256: "5".repeat(64) } } as const;
    expect(await encodePrototext({ step })).toBe(
      'step {\n  step {\n    protocol: zip\n    url: "https://example.com/a.zip"\n  }\n}\n',
    );
  });
});

test("the index does not load protobuf's runtime", () => {
  for (const file of ["mask", "redact", "journal", "record", "result", "encode", "pin", "compare", "show"]) {
    const source = readFileSync(new URL(`${file}.ts`, import.meta.url), "utf8");
    expect(source).not.toMatch(/^import (?!type )[^;]* from "@steps\/proto";/m);
  }
});
