import { createOutputFilter, type Interpreter } from "@steps/github-language";
import type { LogSummary } from "@steps/model";
import type { StepLog } from "../step-log.ts";

/** A log whose lines an interpreter of commands sees first. */
export function filteredLog(log: StepLog, interpreter: Interpreter): StepLog {
  const filters = { stdout: createOutputFilter(interpreter), stderr: createOutputFilter(interpreter) };
  return {
    write(stream, chunk) {
      const bytes = filters[stream].push(chunk);
      return bytes.length === 0 ? undefined : log.write(stream, bytes);
    },
    async close(): Promise<LogSummary | undefined> {
      for (const stream of ["stdout", "stderr"] as const) {
        const rest = filters[stream].end();
        if (rest.length > 0) await log.write(stream, rest);
      }
      return log.close();
    },
  };
}
