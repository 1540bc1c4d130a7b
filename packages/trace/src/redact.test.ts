import { digestOf, encodeSpecDefinition, sensitive, type SpecDefinition, type StepEvent } from "@steps/model";
import { describe, expect, it } from "vitest";
import { echoStep, exampleRun, execStep, fold, job, jobOpened, runStarted, SECRET } from "../test/events.ts";
import { createMasker, createRedactor, encodeTrace, type JournalEvent, verifyTrace } from "./index.ts";

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

describe("createRedactor()", () => {
  it("replaces marked values whole, and marked parts inside of them", () => {
    expect(
      outputsOf({ a: sensitive("no"), b: [1, sensitive("part-of-it")], c: "open", d: sensitive({ x: [1] }) }),
    ).toEqual({
      a: { redacted: { reason: "sensitive" } },
      b: { redacted: { reason: "sensitive", masked: [1, "[MASKED]"] } },
      c: { value: "open" },
      d: { redacted: { reason: "sensitive" } },
    });
  });

  it("replaces unmarked values that are or hold a known secret", () => {
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

  it("registers the marked texts of an event before it replaces any", () => {
    expect(
      outputsOf({ a: "the value is leaked-1", b: sensitive({ x: "leaked-1", y: 98_765_432 }), c: 98_765_432 }),
    ).toEqual({
      a: { redacted: { reason: "masked_value", masked: "the value is [MASKED]" } },
      b: { redacted: { reason: "sensitive" } },
      c: { redacted: { reason: "masked_value" } },
    });
  });

  it("stores a digest of what is too large or nested too deeply, of the masked value", () => {
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

  it("masks commands, messages, names, places, definitions and URLs", () => {
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

  it("masks a definition that holds a secret, also one it redacted before the secret was known", () => {
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

  it("gives the digest of what is left of a definition, so that nobody can guess what was taken out", () => {
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

  it("names the job's definition by the digest of what it stored, whatever becomes a secret later", () => {
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

  it("stores numbers that JSON does not have as texts", () => {
    expect(outputsOf({ a: Number.NaN, b: [Number.POSITIVE_INFINITY] })).toEqual({
      a: { value: "NaN" },
      b: { value: ["Infinity"] },
    });
  });

  it("keeps keys that are special to JavaScript, and texts well-formed", () => {
    const inputs = JSON.parse('{"__proto__": {"constructor": 1}}') as Record<string, string>;
    const [started] = redactAll(
      runStarted({ env: JSON.parse('{"__proto__": "x", "A": "\\ud800"}') as Record<string, string> }),
    );
    expect(JSON.stringify(started)).toContain('"__proto__":{"value":"x"}');
    expect(JSON.stringify(started)).toContain('"A":{"value":"\ufffd"}');
    expect(JSON.stringify(outputsOf(inputs))).toBe('{"__proto__":{"value":{"constructor":1}}}');
  });

  it("lets no secret into the journal or the trace of a run", () => {
    const events = exampleRun({ command: ["login", sensitive(SECRET)], outputs: { result: `token ${SECRET}` } });
    const { journal, trace } = fold(events);
    for (const form of [SECRET, Buffer.from(SECRET).toString("base64").slice(0, 30), "password"]) {
      expect(journal).not.toContain(form);
      expect(encodeTrace(trace)).not.toContain(form);
    }
  });
});
