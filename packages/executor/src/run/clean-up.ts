import { Cancelled } from "../outcome/cancelled.ts";
import type { Run } from "./run.ts";

/** How long what has to be done in any case may take once the run was aborted. */
const CLEAN_UP_MS = 300_000;

/**
 * The run for steps that have to be done in any case: an abort does not reach them, before five minutes have passed or
 * somebody asks a second time.
 */
export function cleanUpRun(run: Run): { readonly run: Run; release(): void } {
  if (run.isCleanUp === true) return { run, release() {} };
  const controller = new AbortController();
  const { signal } = run;
  const { hurry } = run;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => controller.abort(signal.aborted ? signal.reason : new Cancelled());
  const begin = (): void => void (timer ??= setTimeout(stop, CLEAN_UP_MS));
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  if (hurry?.aborted === true) stop();
  else hurry?.addEventListener("abort", stop, { once: true });
  return {
    run: { ...run, signal: controller.signal, isCleanUp: true },
    release() {
      clearTimeout(timer);
      signal.removeEventListener("abort", begin);
      hurry?.removeEventListener("abort", stop);
    },
  };
}
