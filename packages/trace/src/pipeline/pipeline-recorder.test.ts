import { expect, test } from "vitest";
import { createRecorder } from "../record.ts";
import { createMasker } from "../mask.ts";
import {
  assertPipelineReplayable,
  decodePipelineTrace,
  encodePipelineTrace,
  isPipelineTrace,
  verifyPipelineTrace,
} from "./encode-pipeline.ts";
import { createPipelineJournal, parsePipelineJournal } from "./pipeline-journal.ts";
import type { PipelineJournalEvent } from "./pipeline-journal-event.ts";
import { createPipelineRecorder } from "./pipeline-recorder.ts";
import { NameMasker, redactEnd } from "./redact-pipeline.ts";
import { formatPipelineTrace } from "./show-pipeline.ts";

const at = 1_000;
const build = { at, caller: "", job: "build" } as const;
const linux = { ...build, instance: "build (linux)" } as const;
const called = { at, caller: "build (linux)", job: "make" } as const;

const EVENTS: readonly PipelineJournalEvent[] = [
  {
    type: "pipeline-started",
    at,
    traceId: "0".repeat(32),
    runner: { name: "step-runner", version: "1" },
    language: "github",
    source: "ci.yml",
    projectDir: "/project",
  },
  { type: "file-read", at, path: "ci.yml", sha256: "a".repeat(64) },
  { type: "job-planned", ...build, needs: [] },
  { type: "job-planned", at, caller: "", job: "deploy", needs: ["build"] },
  { type: "job-decided", ...build, instances: ["build (linux)"] },
  { type: "instance-delayed", ...linux, delayMs: 5 },
  { type: "instance-started", ...linux },
  { type: "job-planned", ...called, needs: [] },
  { type: "attempt-started", ...linux, traceId: "1" },
  { type: "attempt-ended", ...linux, traceId: "1", status: "failure", journalRoot: "" },
  { type: "attempt-started", ...linux, traceId: "2" },
];
const ENDS: readonly PipelineJournalEvent[] = [
  { type: "attempt-ended", ...linux, traceId: "2", status: "success", journalRoot: "" },
  { type: "instance-ended", ...linux, at: at + 2000, result: { status: "success" } },
  { type: "job-ended", ...build, result: { status: "success", outputs: { v: { value: "1" } } } },
  { type: "job-ended", ...build, job: "deploy", result: { status: "skipped", reason: "its rules exclude it" } },
  { type: "pipeline-finished", at: at + 2000, status: "success" },
];

const run = createRecorder().trace({ journalRoot: "0", journalEvents: 0 });

function traceOf(
  events: readonly PipelineJournalEvent[],
): ReturnType<ReturnType<typeof createPipelineRecorder>["trace"]> {
  const recorder = createPipelineRecorder();
  for (const event of events) recorder.apply(event);
  return recorder.trace({ journalRoot: "0", journalEvents: 0 }, (id) => (id === "2" ? run : undefined));
}

test("createPipelineRecorder() puts the jobs of a called pipeline behind the job that calls it", () => {
  const { jobs, files, status, finishedAt } = traceOf([...EVENTS, ...ENDS]);
  expect(jobs?.map(({ name, caller, needs }) => [name, caller, needs])).toEqual([
    ["build", undefined, undefined],
    ["make", "build (linux)", undefined],
    ["deploy", undefined, ["build"]],
  ]);
  expect(jobs?.[0]).toMatchObject({
    status: "success",
    outputs: { v: { value: "1" } },
    instances: [
      {
        name: "build (linux)",
        delayMs: 5,
        startedAt: "1970-01-01T00:00:01Z",
        attempts: [
          { traceId: "1", status: "failure" },
          { traceId: "2", status: "success", trace: run },
        ],
      },
    ],
  });
  expect(jobs?.[2]).toMatchObject({ status: "skipped", reason: "its rules exclude it" });
  expect({ files, status, finishedAt }).toEqual({
    files: [{ path: "ci.yml", sha256: "a".repeat(64) }],
    status: "success",
    finishedAt: "1970-01-01T00:00:03Z",
  });
});

test("createPipelineRecorder() says of a pipeline that did not end what was interrupted and what never began", () => {
  const { status, jobs } = traceOf(EVENTS);
  expect(status).toBe("interrupted");
  expect(jobs?.map((job) => [job.name, job.status, job.instances?.[0]?.status])).toEqual([
    ["build", "interrupted", "interrupted"],
    ["make", undefined, undefined],
    ["deploy", undefined, undefined],
  ]);
  expect(jobs?.[0]?.instances?.[0]?.attempts?.map((attempt) => attempt.status)).toEqual(["failure", "interrupted"]);
});

test("verifyPipelineTrace() finds what was changed after the pipeline was recorded", async () => {
  const text = encodePipelineTrace(traceOf([...EVENTS, ...ENDS]));
  expect(isPipelineTrace(text)).toBe(true);
  const trace = await decodePipelineTrace(text);
  expect(encodePipelineTrace(trace)).toBe(text);
  expect(verifyPipelineTrace(trace)).toEqual([]);
  const [job, ...others] = trace.jobs ?? [];
  const lied = { ...trace, jobs: [{ ...job, outputs: { v: { value: "2" } } }, ...others] };
  expect(verifyPipelineTrace(lied)).toEqual(["The jobs of the trace do not match its fingerprints"]);
  const forged = text.replace('"status": "interrupted"', '"status": "success"');
  expect(verifyPipelineTrace(await decodePipelineTrace(forged))).toEqual([
    "build (linux): The record of the job does not match its fingerprint",
  ]);
});

test("decodePipelineTrace() names the place of what is wrong, and a newer version is never replayed", async () => {
  const wrong = decodePipelineTrace('{"pipelineFormatVersion": 1, "jobs": [{"needs": "build"}]}');
  await expect(wrong).rejects.toMatchObject({
    code: "TRACE_INVALID",
    message: expect.stringContaining("/jobs/0/needs") as unknown,
  });
  expect(isPipelineTrace('{"formatVersion": 1, "notes": ["\\"pipelineFormatVersion\\""]}')).toBe(false);
  expect(() => assertPipelineReplayable({ pipelineFormatVersion: 2 })).toThrow("format version is 2");
});

test("parsePipelineJournal() leaves a torn line out, and refuses a changed one", () => {
  const journal = createPipelineJournal();
  const text = EVENTS.map((event) => journal.encode(event)).join("");
  expect(parsePipelineJournal(text)).toMatchObject({ events: EVENTS, root: journal.root, isTorn: false });
  const torn = parsePipelineJournal(text.slice(0, -5));
  expect([torn.events.length, torn.isTorn]).toEqual([EVENTS.length - 1, true]);
  expect(() => parsePipelineJournal(text.replace("linux", "macos"))).toThrow("Cannot read journal: line 6");
  const other = createPipelineJournal();
  expect(() => parsePipelineJournal(other.encode({ type: "job-planned", at } as never))).toThrow('no "caller"');
});

test("formatPipelineTrace() shows jobs, attempts and reasons, and one job by its name", () => {
  const trace = traceOf([...EVENTS, ...ENDS]);
  const options = { width: 100, hasColor: false };
  const text = formatPipelineTrace(trace, options);
  expect(text.split("\n").slice(0, 8)).toEqual([
    "✓ pipeline ci.yml  2.0s",
    "├─ ✓ build (linux)  2.0s",
    '│  │ v = "1"',
    "│  ├─ ? make  not started",
    "│  ├─ ✗ attempt 1  failure",
    "│  └─ ✓ attempt 2",
    "└─ - deploy  skipped",
    "     its rules exclude it",
  ]);
  expect(formatPipelineTrace(trace, { ...options, job: "deploy" })).toMatch(/^- deploy {2}skipped\n/);
});

test("NameMasker masks a name always to the same text, and different names to different ones", () => {
  const masker = createMasker();
  masker.add("hunter-two");
  masker.add("wonderland");
  const names = new NameMasker(masker);
  expect(["a hunter-two", "a wonderland", "plain", "a hunter-two"].map(names.name)).toEqual([
    "a [MASKED]",
    "a [MASKED] (2)",
    "plain",
    "a [MASKED]",
  ]);
  expect(redactEnd({ status: "failure", reason: "no hunter-two", outputs: { a: "hunter-two" } }, masker)).toEqual({
    status: "failure",
    reason: "no [MASKED]",
    outputs: { a: { redacted: { reason: "masked_value" } } },
  });
});
