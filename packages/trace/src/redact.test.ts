import { type RuntimeString, Sensitive, sensitive } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import type { StepEvent } from "@steps/model/event";
import { digestOf } from "@steps/platform";
import { describe, expect, test } from "vitest";
import { echoStep, exampleRun, execStep, fold, job, jobOpened, runStarted, SECRET } from "../test/events.ts";
import type { JournalEvent } from "./entries/journal.ts";
import { createMasker, createRedactor, redactAgain } from "./entries/mask.ts";
import { createRecorder, encodeTrace, verifyTrace } from "./index.ts";
import { EVENT_RULES, type Rule, type Rules } from "./redaction-rules.ts";

function redactAll(...events: StepEvent[]): JournalEvent[] {
  const redactor = createRedactor(createMasker());
  return events.map((event) => redactor.redact(event));
}

function outputsOf(outputs: Extract<StepEvent, { type: "step-finished" }>["outputs"], known: string[] = []): unknown {
  const masker = createMasker();
  for (const secret of known) masker.add(secret);
  const end: StepEvent = { type: "step-finished", at: 0, path: "0", status: "success", outputs, exports: {} };
  const redacted = createRedactor(masker).redact(end);
  return redacted.type === "step-finished" ? redacted.outputs : undefined;
}

/** Finds the objects with fields of their own in an event. */
function objectsIn(value: unknown, rule: Rule, at: readonly string[] = []): (readonly string[])[] {
  if (typeof rule === "string" || typeof value !== "object" || value === null || "because" in rule) return [];
  if ("omittedBecause" in rule) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsIn(item, rule, [...at, String(index)]));
  const inner = Object.entries(value).flatMap(([key, item]) =>
    objectsIn(item, (rule as Rules)[key] ?? "text", [...at, key]),
  );
  return [at, ...inner];
}

function placeIn(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
}

function structuredCloneWithMarks(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Sensitive) return value;
  if (Array.isArray(value)) return value.map(structuredCloneWithMarks);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, structuredCloneWithMarks(item)]));
}

describe("createRedactor()", () => {
  test("takes a field that is undefined for one that is absent", () => {
    const event: StepEvent = { type: "step-finished", at: 0, path: "0", status: "success", outputs: {}, exports: {} };
    const absent = { exitCode: undefined, error: undefined, annotations: undefined, log: undefined };
    expect(redactAll({ ...event, ...absent }).map((stored) => Object.keys(stored))).toEqual([Object.keys(event)]);
    const started = runStarted() as Extract<StepEvent, { type: "run-started" }>;
    const without = { ...started, job: { ...started.job, grants: undefined, mode: undefined } };
    expect(redactAll(without)).toEqual(redactAll(started));
  });

  test("replaces marked values whole, and marked parts inside of them", () => {
    expect(
      outputsOf({ a: sensitive("no"), b: [1, sensitive("part-of-it")], c: "open", d: sensitive({ x: [1] }) }),
    ).toEqual({
      a: { redacted: { reason: "sensitive" } },
      b: { redacted: { reason: "sensitive", masked: [1, "[MASKED]"] } },
      c: { value: "open" },
      d: { redacted: { reason: "sensitive" } },
    });
  });

  test("leaves out what is undefined, whatever its rule", () => {
    const [redacted] = redactAll({ type: "step-opened", at: 0, path: "0", name: "", reference: undefined });
    expect(Object.keys(redacted ?? {})).toEqual(["type", "at", "path", "name"]);
  });

  test("replaces unmarked values that are or hold a known secret", () => {
    const outputs = {
      a: "secret-1",
      b: "x secret-1 y",
      c: { deep: ["secret-1"], "secret-1": 1 },
      d: 123_456_789,
      e: null,
    };
    expect(outputsOf(outputs, ["secret-1", "123456789"])).toEqual({
      a: { redacted: { reason: "masked_value" } },
      b: { redacted: { reason: "masked_value", masked: "x [MASKED] y" } },
      c: { redacted: { reason: "masked_value", masked: { deep: ["[MASKED]"], "[MASKED]": 1 } } },
      d: { redacted: { reason: "masked_value" } },
      e: { value: null },
    });
  });

  test("registers the marked texts of an event before it replaces any", () => {
    expect(
      outputsOf({ a: "the value is leaked-1", b: sensitive({ x: "leaked-1", y: 98_765_432 }), c: 98_765_432 }),
    ).toEqual({
      a: { redacted: { reason: "masked_value", masked: "the value is [MASKED]" } },
      b: { redacted: { reason: "sensitive" } },
      c: { redacted: { reason: "masked_value" } },
    });
  });

  test("masks an object of all variables as a whole, and of its members those that are secrets", () => {
    const masker = createMasker();
    const redactor = createRedactor(masker);
    const read = { type: "variable-read", at: 0, path: "0", name: "S", value: sensitive("hunter2hunter2") } as const;
    redactor.redact(read);
    const all = JSON.stringify({ S: "hunter2hunter2", CI_JOB_NAME: "building" });
    const starting = exampleRun().find(({ type }) => type === "process-starting") as StepEvent;
    redactor.redact({ ...starting, env: { ALL: sensitive(all) } } as StepEvent);
    expect(masker.text(`building with hunter2hunter2: ${all}`)).toBe("building with [MASKED]: [MASKED]");
  });

  test("stores a digest of what is too large or nested too deeply, of the masked value", () => {
    const large = "x".repeat(1024 * 1024 + 1);
    const deep = JSON.parse(`${"[".repeat(1000)}${"]".repeat(1000)}`) as [];
    const outputs = outputsOf({ large, deep, fits: "y".repeat(1024 * 1024), secret: `${large} secret-1` }, [
      "secret-1",
    ]);
    expect(outputs).toMatchObject({
      large: { redacted: { reason: "too_large", sha256: expect.stringMatching(/^[0-9a-f]{64}$/), bytes: "1048577" } },
      deep: { redacted: { reason: "too_large" } },
      fits: { value: "y".repeat(1024 * 1024) },
      secret: { redacted: { reason: "too_large", bytes: String(1024 * 1024 + 1 + " [MASKED]".length) } },
    });
  });

  test("masks commands, messages, names, places, definitions and URLs", () => {
    const [started, ...rest] = redactAll(
      runStarted({ env: { TOKEN: sensitive("s3cret-value") } }),
      ...execStep({
        path: "0",
        name: "s3cret-value",
        command: ["curl", sensitive("x"), "-H s3cret-value"],
        exitCode: 1,
      }),
      { type: "note", at: 0, path: "0", level: "info", code: "c", message: "it is s3cret-value" },
    );
    expect(JSON.stringify([started, ...rest])).not.toContain("s3cret-value");
    expect(JSON.stringify(rest)).not.toContain("password");
    expect(rest.find((event) => event.type === "process-starting")?.command).toEqual([
      "curl",
      "[MASKED]",
      "-H [MASKED]",
    ]);
    expect(rest.at(-1)).toMatchObject({ message: "it is [MASKED]" });
  });

  test("masks a definition that holds a secret, also one it redacted before the secret was known", () => {
    const masker = createMasker();
    const redactor = createRedactor(masker);
    const events = execStep({ path: "0", name: "a" });
    const planned = events.find((event) => event.type === "step-planned") as StepEvent;
    expect(JSON.stringify(redactor.redact(planned))).toContain("${{ inputs.text }}");
    masker.add("inputs.text");
    expect(JSON.stringify(redactor.redact(planned))).not.toContain("inputs.text");
    const starting = events.find((event) => event.type === "process-starting") as StepEvent;
    expect(JSON.stringify(redactor.redact(starting))).toContain("/one/work/home");
    masker.add("/one/work/home");
    expect(JSON.stringify(redactor.redact(starting))).not.toContain("/one/work/home");
  });

  test("gives the digest of what is left of a definition, so that nobody can guess what was taken out", () => {
    const planned = (definition: SpecDefinition): StepEvent => ({
      ...(jobOpened()[1] as Extract<StepEvent, { type: "step-planned" }>),
      path: "0",
      specDefinition: definition,
      definitionDigest: digestOf(encodeSpecDefinition(definition)),
    });
    const masker = createMasker();
    masker.add("hunter2secret");
    masker.add("123456789");
    const redactor = createRedactor(masker);
    const withCommand = (text: string): SpecDefinition => ({
      ...echoStep,
      definition: { type: "exec", command: ["echo", text], env: {} },
    });
    const digest = (definition: SpecDefinition): string => {
      const event = redactor.redact(planned(definition));
      return event.type === "step-planned" ? event.definitionDigest : "";
    };
    expect(digest(withCommand("hunter2secret"))).toBe(digestOf(encodeSpecDefinition(withCommand("[MASKED]"))));
    expect(digest(withCommand("open"))).toBe(digestOf(encodeSpecDefinition(withCommand("open"))));
    const withNumber = (value: string | number): SpecDefinition => ({
      ...job,
      definition: { type: "steps", env: {}, outputs: { a: value }, steps: [] },
    });
    expect(digest(withNumber(123_456_789))).toBe(digestOf(encodeSpecDefinition(withNumber("[MASKED]"))));
  });

  test("names the job's definition by the digest of what it stored, whatever becomes a secret later", () => {
    const [opened, planned] = jobOpened() as [StepEvent, StepEvent];
    const late = { type: "variable-read", at: 0, path: "", name: "X", value: sensitive("hello") } as const;
    const early = runStarted({ env: { TOKEN: sensitive("hello") } });
    for (const events of [
      [runStarted(), late, opened, planned],
      [early, opened, planned],
      [runStarted(), opened, planned],
    ]) {
      const { trace } = fold(events);
      expect(trace.root?.det?.definitionDigest).toBe(digestOf(trace.request?.definition));
      expect(verifyTrace(trace)).toEqual([]);
    }
    const { events } = fold([runStarted(), late, opened, planned]);
    expect(JSON.stringify(events[3])).not.toContain("hello");
  });

  test("masks what nobody thought of: a field that is added anywhere in any event", () => {
    const masker = createMasker();
    masker.add("unthought-of");
    const redactor = createRedactor(masker);
    const added = { text: "an unthought-of text", list: ["unthought-of"], deep: { "unthought-of": sensitive("x") } };
    const seen = new Set<string>();
    const finished = execStep({ path: "0", name: "a", exitCode: 1 }).at(-1) as StepEvent;
    const annotations = [{ level: "error", message: "m" }];
    const events: StepEvent[] = [
      ...exampleRun({}),
      { ...finished, annotations, summary: "s", skipReason: "s", delegateOf: "d" } as StepEvent,
      { type: "variable-read", at: 0, path: "", name: "X", value: "x" },
      { type: "secret-found", at: 0, path: "0", values: [sensitive("found-before")] },
      { type: "note", at: 0, path: "0", level: "info", code: "c", message: "m" },
    ];
    for (const event of events) {
      seen.add(event.type);
      for (const place of objectsIn(event, EVENT_RULES[event.type])) {
        const changed = structuredCloneWithMarks(event);
        Object.assign(placeIn(changed, place) as object, { added });
        const stored = JSON.stringify(redactor.redact(changed as StepEvent));
        expect(stored, `${event.type} ${place.join(".")}`).not.toContain("unthought-of");
        expect(stored, `${event.type} ${place.join(".")}`).toContain("an [MASKED] text");
      }
    }
    expect([...seen].toSorted()).toEqual(Object.keys(EVENT_RULES).toSorted());
  });

  test("stores of a job only what a replay can use", () => {
    const started = runStarted() as Extract<StepEvent, { type: "run-started" }>;
    const kept = { mode: { compat: "2025" }, grants: { KEY: sensitive("granted-1") } } as const;
    const vars = { VARIABLE: sensitive("unread-1") } as Readonly<Record<string, RuntimeString>>;
    const given = {
      vars,
      offeredEnv: { OFFERED: "unread-2" },
      maskedValues: ["masked-1"],
      positionOf: () => undefined,
    };
    const [stored] = redactAll({ ...started, job: { ...started.job, ...kept, ...given } });
    const { job: storedJob } = stored as Extract<JournalEvent, { type: "run-started" }>;
    const names = [
      "baseDir",
      "entry",
      "env",
      "grants",
      "inputs",
      "mode",
      "name",
      "source",
      "specDefinition",
      "workDir",
    ];
    expect(Object.keys(storedJob).toSorted()).toEqual(names);
    expect(storedJob.grants).toEqual({ KEY: { redacted: { reason: "sensitive" } } });
    expect(JSON.stringify(stored)).not.toMatch(/VARIABLE|OFFERED|unread|masked-1|granted-1/);
  });

  test("names a reason for each text that is stored as it is or not at all", () => {
    const reasons = new Set<string>();
    const visit = (rule: Rule): void => {
      if (typeof rule === "string") return;
      const reason = "because" in rule ? rule.because : "omittedBecause" in rule ? rule.omittedBecause : undefined;
      if (typeof reason === "string") reasons.add(reason);
      else Object.values(rule).forEach((inner) => visit(inner as Rule));
    };
    Object.values(EVENT_RULES).forEach(visit);
    expect(reasons.size).toBeGreaterThan(0);
    for (const reason of reasons) expect(reason.length).toBeGreaterThan(10);
  });

  test("masks what was stored before it became a secret, and keeps digests that fit", () => {
    const events = [
      ...exampleRun({ outputs: { result: sensitive("hello") }, hasInlineLog: true }),
      { type: "note", at: 0, path: "0", level: "info", code: "c", message: "hello again" } as const,
    ];
    const masker = createMasker();
    const redactor = createRedactor(masker);
    const before = events.map((event) => redactor.redact(event));
    expect(JSON.stringify(before)).toContain("hello");
    const after = redactAgain(before, masker);
    expect(JSON.stringify(after)).not.toContain("hello");
    expect(JSON.stringify(after)).not.toContain(Buffer.from("hello\n").toString("base64"));
    expect(redactAgain(after, masker)).toEqual(after);
    expect(redactAgain(before, createMasker()).every((event, at) => event === before[at])).toBe(true);
    const recorder = createRecorder();
    for (const event of after) recorder.apply(event);
    const trace = recorder.trace({ journalRoot: "0".repeat(64), journalEvents: after.length });
    expect(verifyTrace(trace)).toEqual([]);
    expect(trace.request?.redactedTexts).toContain("/definition/steps/0/inputs/text");
  });

  test("stores numbers that JSON does not have as texts", () => {
    expect(outputsOf({ a: Number.NaN, b: [Number.POSITIVE_INFINITY] })).toEqual({
      a: { value: "NaN" },
      b: { value: ["Infinity"] },
    });
  });

  test("keeps keys that are special to JavaScript, and texts well-formed", () => {
    const inputs = JSON.parse('{"__proto__": {"constructor": 1}}') as Record<string, string>;
    const [started] = redactAll(
      runStarted({ env: JSON.parse('{"__proto__": "x", "A": "\\ud800"}') as Record<string, string> }),
    );
    expect(JSON.stringify(started)).toContain('"__proto__":{"value":"x"}');
    expect(JSON.stringify(started)).toContain('"A":{"value":"\ufffd"}');
    expect(JSON.stringify(outputsOf(inputs))).toBe('{"__proto__":{"value":{"constructor":1}}}');
  });

  test("lets no secret into the journal or the trace of a run", () => {
    const events = exampleRun({ command: ["login", sensitive(SECRET)], outputs: { result: `token ${SECRET}` } });
    const { journal, trace } = fold(events);
    for (const form of [SECRET, Buffer.from(SECRET).toString("base64").slice(0, 30), "password"]) {
      expect(journal).not.toContain(form);
      expect(encodeTrace(trace)).not.toContain(form);
    }
  });
});
