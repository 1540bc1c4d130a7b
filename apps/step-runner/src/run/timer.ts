import { MAX_TIMER_MS } from "@steps/model";
import { hurryOutput } from "@steps/console/terminal";

/** Lets the output wait for no slow reader any more after some time, in milliseconds, until it is disposed of. Absent: never. */
export function hurryOutputAfter(ms: number | undefined): Disposable {
  const timer = ms === undefined ? undefined : setTimeout(hurryOutput, Math.min(ms, MAX_TIMER_MS)).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
