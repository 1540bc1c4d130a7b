import { type RuntimeString, type RuntimeValue, sensitive } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { ExecDefinition, SpecDefinition } from "@steps/model/definition";
import type { Places, Resource, StepEvent } from "@steps/model/event";
import type { GitReference } from "@steps/model/reference";
import { digestOf } from "@steps/platform";
import type { TraceJson } from "@steps/proto";
import { createRecorder, createResultTree } from "../src/index.ts";
import { createJournal, type JournalEvent } from "../src/entries/journal.ts";
import { createMasker, createRedactor, type Masker } from "../src/entries/mask.ts";

const START = Date.UTC(2026, 0, 31, 12, 0, 0);
export const SECRET = "correct-horse/battery+staple";

const exec: ExecDefinition = { type: "exec", command: ["echo", "${{ inputs.text }}"], env: {} };

export const echoStep: SpecDefinition = {
  spec: {
    inputs: { text: { type: "string", isSensitive: false } },
    outputs: { result: { type: "string", isSensitive: false } },
  },
  definition: exec,
};

export const reference: GitReference = {
  kind: "git",
  url: "https://user:password@example.com/echo.git",
  version: "main",
  dir: "steps",
};

export const job: SpecDefinition = {
  spec: { inputs: {}, outputs: {} },
  definition: {
    type: "steps",
    env: { LEVEL: "job" },
    outputs: {},
    steps: [{ name: "a", step: reference, inputs: { text: "hello" }, env: {} }],
  },
};

export const component: Resource = {
  kind: "git",
  uri: "https://example.com/echo.git",
  requestedVersion: "main",
  resolvedVersion: "1".repeat(40),
  digest: { gitTree: "2".repeat(64), gitCommit: "1".repeat(40) },
  isMutable: true,
};

const tool: Resource = {
  kind: "binary",
  uri: "/bin/echo",
  requestedVersion: "",
  resolvedVersion: "",
  digest: { sha256: "3".repeat(64) },
  isMutable: false,
};

export interface StepOptions {
  readonly path: string;
  readonly name: string;
  readonly dir?: string;
  readonly env?: Readonly<Record<string, RuntimeString>>;
  readonly command?: readonly RuntimeString[];
  readonly inputs?: Readonly<Record<string, RuntimeValue>>;
  readonly outputs?: Readonly<Record<string, RuntimeValue>>;
  readonly exports?: Readonly<Record<string, RuntimeString>>;
  readonly exitCode?: number;
  readonly stdout?: string;
  /** Also keep the text of the log. */
  readonly hasInlineLog?: boolean;
  readonly at?: number;
}

function placesIn(dir: string): Places {
  return {
    workDir: `${dir}/work`,
    stepDir: `${dir}/cache/echo`,
    jobTmp: `${dir}/tmp`,
    outputFile: `${dir}/tmp/output`,
    exportFile: `${dir}/tmp/export`,
  };
}

export function runStarted(
  options: { dir?: string; env?: Record<string, RuntimeString>; at?: number } = {},
): StepEvent {
  const dir = options.dir ?? "/one";
  return {
    type: "run-started",
    at: options.at ?? START,
    traceId: "0123456789abcdef0123456789abcdef",
    job: {
      entry: "ci",
      name: "build",
      source: "steps.yml",
      specDefinition: job,
      inputs: {},
      vars: {},
      env: options.env ?? { PATH: "/bin", TOKEN: sensitive(SECRET) },
      workDir: `${dir}/work`,
      baseDir: `${dir}/work/ci`,
    },
    runner: { name: "step-runner", version: "0.1.0" },
    runtime: {
      os: "linux",
      arch: "x64",
      kernel: "6.18.0",
      osRelease: "debian 12",
      libc: "glibc 2.36",
      node: "24.21.0",
      timezone: "UTC",
      umask: "0022",
    },
  };
}

/** All events of one exec step. */
export function execStep(options: StepOptions): StepEvent[] {
  const { path, name, at = START } = options;
  const dir = options.dir ?? "/one";
  const places = placesIn(dir);
  const inputs = options.inputs ?? { text: "hello" };
  const exitCode = options.exitCode ?? 0;
  const text = options.stdout ?? "hello\n";
  return [
    { type: "step-opened", at, path, name, reference },
    {
      type: "component-resolved",
      at,
      path,
      resource: component,
      fetch: { isHit: false, bytes: 1234, durationMs: 3.5 },
    },
    {
      type: "step-planned",
      at,
      path,
      specDefinition: echoStep,
      definitionDigest: digestOf(encodeSpecDefinition(echoStep)),
      component,
      subpath: "steps/step.yml",
      reference,
      inputs,
      invocation: { inputs, env: {} },
      definitionEnv: {},
      places,
    },
    {
      type: "process-starting",
      at,
      path,
      command: options.command ?? ["echo", `${dir}/work/file`, `--out=${dir}/tmp/output`],
      workDir: `${dir}/work`,
      env: options.env ?? { PATH: "/bin", HOME: `${dir}/work/home`, TOKEN: sensitive(SECRET) },
      tools: [tool],
      places,
    },
    { type: "process-started", at, path, pid: 4242 },
    {
      type: "step-finished",
      at: at + 250,
      path,
      status: exitCode === 0 ? "success" : "failure",
      exitCode,
      ...(exitCode === 0
        ? {}
        : { error: { code: "EXIT_STATUS", message: `step "${name}": exec: exit status ${exitCode}` } }),
      outputs: options.outputs ?? { result: `${dir}/work/result` },
      exports: options.exports ?? {},
      log: {
        stdout: { sha256: digestOf(text), bytes: text.length, lines: 1 },
        stderr: { sha256: digestOf(""), bytes: 0, lines: 0 },
        file: `logs/${path}.log`,
        storedBytes: text.length,
        droppedBytes: 0,
        ...(options.hasInlineLog === true ? { inline: Buffer.from(text).toString("base64") } : {}),
      },
    },
  ];
}

export function jobOpened(dir = "/one"): StepEvent[] {
  return [
    { type: "step-opened", at: START, path: "", name: "" },
    {
      type: "step-planned",
      at: START,
      path: "",
      specDefinition: job,
      definitionDigest: digestOf(encodeSpecDefinition(job)),
      subpath: "",
      inputs: {},
      invocation: { inputs: {}, env: {} },
      definitionEnv: { LEVEL: "job" },
      places: { workDir: `${dir}/work`, stepDir: `${dir}/work`, jobTmp: `${dir}/tmp` },
    },
  ];
}

export function jobFinished(status: "success" | "failure" = "success"): StepEvent[] {
  return [
    { type: "step-finished", at: START + 900, path: "", status, outputs: {}, exports: {} },
    { type: "run-finished", at: START + 1000, outcome: { status }, outputs: {} },
  ];
}

/** A run of two steps, the second of which is given. */
export function exampleRun(second: Partial<StepOptions> = {}): StepEvent[] {
  const dir = second.dir ?? "/one";
  const status = second.exitCode ? "failure" : "success";
  return [
    runStarted({ dir }),
    ...jobOpened(dir),
    { type: "variable-read", at: START, path: "0", name: "CI_COMMIT_REF_NAME", value: "main" },
    ...execStep({ path: "0", name: "a", dir, exports: { ADDED: "by a" } }),
    { type: "note", at: START, path: "1", level: "warning", code: "old-form", message: "The form is deprecated" },
    ...execStep({ path: "1", name: "b", ...second, dir }),
    ...jobFinished(status),
  ];
}

export interface Folded {
  readonly events: JournalEvent[];
  readonly journal: string;
  readonly trace: TraceJson;
  readonly masker: Masker;
}

/** Treats the events of a run as the engine does. */
export function fold(events: readonly StepEvent[]): Folded {
  const masker = createMasker();
  const redactor = createRedactor(masker);
  const writer = createJournal();
  const recorder = createRecorder();
  const redacted = events.map((event) => redactor.redact(event));
  let journal = "";
  for (const event of redacted) {
    journal += writer.encode(event);
    recorder.apply(event);
  }
  const trace = recorder.trace({ journalRoot: writer.root, journalEvents: writer.count });
  return { events: redacted, journal, trace, masker };
}

export function resultOf(events: readonly StepEvent[]): ReturnType<ReturnType<typeof createResultTree>["result"]> {
  const redactor = createRedactor(createMasker());
  const tree = createResultTree();
  for (const event of events) tree.apply(redactor.redact(event));
  return tree.result();
}
