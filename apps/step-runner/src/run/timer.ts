import { hurryOutput } from "@steps/console/terminal";

/** The longest delay that a Node timer accepts, in milliseconds; a longer one would fire at once. */
export const MAX_TIMER_MS: number = 2_147_483_647;

/** Lets the output wait for no slow reader any more after some time, in milliseconds, until it is disposed of. Absent: never. */
export function hurryOutputAfter(ms: number | undefined): Disposable {
  const timer = ms === undefined ? undefined : setTimeout(hurryOutput, Math.min(ms, MAX_TIMER_MS)).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
