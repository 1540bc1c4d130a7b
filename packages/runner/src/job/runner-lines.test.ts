import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { readConfig } from "../config/read-config.ts";
import { TraceFile, type TraceStream } from "../trace/trace-file.ts";
import { RunnerLines } from "./runner-lines.ts";

const MAX = 1024 * 1024;
const [CONFIG] = readConfig(
  'runners: [{name: n, url: "https://gitlab.example.com", token: glrt-x, executor: docker}]',
  "runners.yml",
).runners;

const asItIs = (text: string): string => text;

/** A runner that is killed after so many pieces of the trace. */
class KilledAfter extends TraceFile {
  #left: number;

  constructor(folder: string, pieces: number) {
    super(folder, MAX);
    this.#left = pieces;
  }

  override append(stream: TraceStream, bytes: Uint8Array): void {
    if (this.#left-- === 0) throw new Error("killed");
    super.append(stream, bytes);
  }
}

/** What a runner writes for a job whose output is one line, or for the rest of it. */
function work(trace: TraceFile, hasSections: boolean): void {
  if (CONFIG === undefined) throw new Error("There is no runner");
  const lines = new RunnerLines(trace, hasSections, asItIs);
  lines.begin(CONFIG, "s_000000000000");
  lines.prepared();
  if (trace.offsets.stdout === 0) {
    const output = Buffer.from("output");
    trace.append("stdout", output);
    lines.note(output);
  }
}

function textOf(trace: TraceFile): string {
  return trace
    .read(0)
    .toString()
    .replaceAll(/section_(start|end):\d+:(\w+)\r\u001B\[0K/g, "<$1 $2>")
    .replaceAll(/\u001B\[[\d;]*m/g, "")
    .replace(/steps-runner \S+/, "steps-runner")
    .replace(/executor on \S+/, "executor on machine");
}

const RUNNING = "Running with steps-runner\n  on n x, system ID: s_000000000000\n";
const USING = "Using the docker executor on machine\n";

test("the first lines name the runner and the executor, in the section of its preparation", () => {
  using trace = new TraceFile(tempDir(), MAX);
  work(trace, true);
  new RunnerLines(trace, true, asItIs).end({ state: "success" });
  expect(textOf(trace)).toBe(
    `${RUNNING}<start prepare_executor>Preparing the "docker" executor\n${USING}<end prepare_executor>output\nJob succeeded\n`,
  );
});

test("a server that shows no sections gets none", () => {
  using trace = new TraceFile(tempDir(), MAX);
  work(trace, false);
  expect(textOf(trace)).toBe(`${RUNNING}${USING}output`);
});

test("a place that cannot be made ends the section before the job's end is told", () => {
  using trace = new TraceFile(tempDir(), MAX);
  const lines = new RunnerLines(trace, true, asItIs);
  if (CONFIG !== undefined) lines.begin(CONFIG, "s_000000000000");
  lines.end({ state: "failed", reason: "runner_system_failure", message: "no place" });
  expect(textOf(trace)).toMatch(/<end prepare_executor>ERROR: Job failed \(system failure\): no place\n$/);
});

test.each([0, 1, 2])("a runner that is killed after %i pieces is gone on with as if it had not been", (pieces) => {
  const folder = tempDir();
  {
    using trace = new KilledAfter(folder, pieces);
    expect(() => work(trace, true)).toThrow("killed");
  }
  using again = new TraceFile(folder, MAX);
  work(again, true);
  using whole = new TraceFile(tempDir(), MAX);
  work(whole, true);
  expect(textOf(again)).toBe(textOf(whole));
});

test("a trace that has no section, since a runner of before has begun it, gets no end of one", () => {
  using trace = new TraceFile(tempDir(), MAX);
  trace.append("runner", Buffer.from("Running\n"));
  work(trace, true);
  expect(textOf(trace)).toBe("Running\noutput");
});

test("after a mark, and after output that a killed runner has taken, a line of the runner is a line of its own", () => {
  const folder = tempDir();
  {
    using trace = new TraceFile(folder, MAX);
    work(trace, true);
  }
  using trace = new TraceFile(folder, MAX);
  new RunnerLines(trace, true, asItIs).say("said");
  expect(textOf(trace).endsWith("<end prepare_executor>output\nsaid\n")).toBe(true);
});
