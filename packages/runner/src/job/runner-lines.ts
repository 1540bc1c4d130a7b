import { hostname } from "node:os";
import type { RunnerConfig } from "../config/runner-config.ts";
import { shortToken } from "../executors/job-paths.ts";
import { RUNNER_VERSION } from "../runner-info.ts";
import type { TraceFile } from "../trace/trace-file.ts";
import type { JobEnd } from "../job-end.ts";

const [RED, GREEN, CYAN, RESET] = ["\u001B[31;1m", "\u001B[32;1m", "\u001B[36;1m", "\u001B[0;m"];

/** The lines that the runner itself writes into the trace of a job, in the words of gitlab-runner. */
export class RunnerLines {
  readonly #trace: Pick<TraceFile, "append" | "hasRunnerLines">;
  #isAtLineStart = true;

  constructor(trace: Pick<TraceFile, "append" | "hasRunnerLines">) {
    this.#trace = trace;
  }

  /** Output of the job came in between. */
  note(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#isAtLineStart = bytes.at(-1) === 10;
  }

  begin(config: RunnerConfig, systemId: string): void {
    // A runner that was started again has said so before.
    if (this.#trace.hasRunnerLines) return;
    const of = `on ${config.name} ${shortToken(config.token)}, system ID: ${systemId}`;
    this.#write(`${GREEN}Running with steps-runner ${RUNNER_VERSION}${RESET}\n  ${of}\n`);
    this.#write(`${CYAN}Using the ${config.executor} executor on ${hostname()}${RESET}\n`);
  }

  say(line: string): void {
    this.#write(`${line}\n`);
  }

  end({ state, message, reason }: JobEnd): void {
    if (state === "success") this.#write(`${GREEN}Job succeeded${RESET}\n`);
    else {
      const isOfSystem = reason === "runner_system_failure" || reason === "runner_interrupted";
      const what = isOfSystem ? "ERROR: Job failed (system failure)" : "ERROR: Job failed";
      this.#write(`${RED}${what}: ${message ?? "unknown failure"}${RESET}\n`);
    }
  }

  #write(text: string): void {
    const line = this.#isAtLineStart ? text : `\n${text}`;
    this.#trace.append("runner", Buffer.from(line));
    this.#isAtLineStart = true;
  }
}
