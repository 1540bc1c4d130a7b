import { bun } from "./engine.ts";

/** A command that takes longer than this is worth the compiler's time, in milliseconds. */
const SHORT_MS = 100;

/**
 * Ends the time in which the engine compiles next to nothing. The executable is packed so that it begins with that (`scripts/pack.mjs`):
 * a short command has ended before compiled code would gain what it costs, in time and in memory. Does nothing under Node.
 */
export function compileAfterStart(): void {
  if (bun === undefined) return;
  const { unsafe } = bun;
  setTimeout(() => unsafe.setJITPolicy(1), SHORT_MS).unref();
}
