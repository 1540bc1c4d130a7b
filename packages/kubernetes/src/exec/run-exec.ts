import { checkOptionNames } from "@steps/model";
import type { KubernetesAccessSource } from "../access/kubernetes-access.ts";
import type { ExecOutcome } from "./exec-outcome.ts";
import { EXEC_OPTION_NAMES, type ExecOptions, startExec } from "./start-exec.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** A program's end, with what it wrote: at most a megabyte of stdout, and the beginning and the end of stderr. */
export interface ExecResult {
  readonly outcome: ExecOutcome;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in a container to its end, with an empty stdin. @throws {KubernetesError} as `startExec()` */
export async function runExec(source: KubernetesAccessSource, options: ExecOptions): Promise<ExecResult> {
  checkOptionNames("runExec()", options, EXEC_OPTION_NAMES);
  const { stream } = await startExec(source, options);
  const stop = (): void => void stream.destroy();
  options.signal.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    stream.end();
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    }
  } catch {
    // The outcome says it.
  } finally {
    options.signal.removeEventListener("abort", stop);
    stream.destroy();
  }
  options.signal.throwIfAborted();
  const outcome = stream.outcome ?? { kind: "lost", message: stream.describeEnd() };
  return { outcome, stdout: Buffer.concat(chunks).toString(), stderr: stream.stderr.toString() };
}
