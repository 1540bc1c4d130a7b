import type { StepLog } from "@steps/executor/kit";
import { createOutputFilter, type Interpreter } from "@steps/github-language/commands";
import type { LogSummary } from "@steps/model/event";

const LINE_FEED = 10;

/** The answers of whoever carries out the commands in a log. */
export interface LogEffects {
  /** The reason why the commands were refused; `undefined`: they were not. */
  readonly refusal: () => Error | undefined;
  /** The last lines of standard error. They are asked for once, when the process has ended. */
  readonly ending: () => readonly string[];
}

/**
 * A log whose lines an interpreter of commands sees first. Once the commands were refused nothing is written any more, and
 * writing fails.
 */
export function filteredLog(log: StepLog, interpreter: Interpreter, { refusal, ending }: LogEffects): StepLog {
  const filters = { stdout: createOutputFilter(interpreter), stderr: createOutputFilter(interpreter) };
  let isAtLineStart = true;
  const pass = (stream: "stdout" | "stderr", bytes: Uint8Array): void | Promise<void> => {
    if (bytes.length === 0) return undefined;
    if (stream === "stderr") isAtLineStart = bytes.at(-1) === LINE_FEED;
    return log.write(stream, bytes);
  };
  return {
    write(stream, chunk) {
      const bytes = filters[stream].push(chunk);
      const refused = refusal();
      if (refused !== undefined) throw refused;
      return pass(stream, bytes);
    },
    async close(): Promise<LogSummary | undefined> {
      for (const stream of ["stdout", "stderr"] as const) {
        const rest = filters[stream].end();
        if (refusal() === undefined) await pass(stream, rest);
      }
      const lines = ending();
      if (lines.length > 0 && refusal() === undefined) {
        await pass("stderr", Buffer.from(`${isAtLineStart ? "" : "\n"}${lines.join("\n")}\n`));
      }
      return log.close();
    },
  };
}
