import { hostname } from "node:os";
import type { RunnerConfig } from "../config/runner-config.ts";
import { shortToken } from "../executors/job-paths.ts";
import { RUNNER_VERSION } from "../runner-info.ts";
import type { TraceFile } from "../trace/trace-file.ts";
import type { JobEnd } from "../job-end.ts";

const [RED, GREEN, CYAN, RESET, CLEAR] = ["\u001B[31;1m", "\u001B[32;1m", "\u001B[36;1m", "\u001B[0;m", "\u001B[0K"];
/** The section of what is done before the job's service is there, by its name at gitlab-runner. */
const PREPARE = "prepare_executor";

type Trace = Pick<TraceFile, "append" | "read" | "size" | "hasRunnerLines" | "marks">;

/** The lines that the runner itself writes into the trace of a job, in the words of gitlab-runner. */
export class RunnerLines {
  readonly #trace: Trace;
  readonly #hasSections: boolean;
  readonly #mask: (text: string) => string;
  #isAtLineStart: boolean;

  /**
   * @param hasSections whether the server shows sections
   * @param mask takes the secrets out of what others have said
   */
  constructor(trace: Trace, hasSections: boolean, mask: (text: string) => string) {
    this.#trace = trace;
    this.#hasSections = hasSections;
    this.#mask = mask;
    this.#isAtLineStart = trace.size === 0 || endsLine(trace.read(Math.max(0, trace.size - TAIL_BYTES)));
  }

  /** Output of the job came in between. */
  note(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#isAtLineStart = endsLine(bytes);
  }

  /** Names the runner and the executor, which is prepared from now on. */
  begin(config: RunnerConfig, systemId: string): void {
    // A runner that was started again has said so before.
    if (this.#trace.hasRunnerLines) return;
    const of = `on ${config.name} ${shortToken(config.token)}, system ID: ${systemId}`;
    const running = `${GREEN}Running with steps-runner ${RUNNER_VERSION}${RESET}\n  ${of}\n`;
    const using = `Using the ${config.executor} executor on ${hostname()}\n`;
    const head = `${CYAN}Preparing the "${config.executor}" executor${RESET}\n`;
    // As one piece, of which a runner that is killed has written all or nothing.
    if (this.#hasSections) this.#write(`${running}section_start:${now()}:${PREPARE}\r${CLEAR}${head}${using}`, "mark");
    else this.#write(`${running}${CYAN}${using.trimEnd()}${RESET}\n`);
  }

  /** The executor is prepared, or cannot be. */
  prepared(): void {
    // One mark: the section has begun, and no runner before this one has ended it.
    if (this.#trace.marks === 1) this.#write(`section_end:${now()}:${PREPARE}\r${CLEAR}`, "mark");
  }

  say(line: string): void {
    this.#write(`${this.#mask(line)}\n`);
  }

  /** Says how the job ended. */
  end({ state, message, reason }: JobEnd): void {
    this.prepared();
    if (state === "success") this.#write(`${GREEN}Job succeeded${RESET}\n`);
    else {
      const isOfSystem = reason === "runner_system_failure" || reason === "runner_interrupted";
      const what = isOfSystem ? "ERROR: Job failed (system failure)" : "ERROR: Job failed";
      this.#write(`${RED}${what}: ${this.#mask(message ?? "unknown failure")}${RESET}\n`);
    }
  }

  #write(text: string, stream: "runner" | "mark" = "runner"): void {
    const line = this.#isAtLineStart ? text : `\n${text}`;
    this.#trace.append(stream, Buffer.from(line));
    this.#isAtLineStart = true;
  }
}

const LINE_FEED = 10;
/** A mark of a section ends so, and clears the line that it is in. */
const CLEARED = Buffer.from(`\r${CLEAR}`);
const TAIL_BYTES = CLEARED.length;

function endsLine(bytes: Uint8Array): boolean {
  return bytes.at(-1) === LINE_FEED || CLEARED.equals(bytes.subarray(-TAIL_BYTES));
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
