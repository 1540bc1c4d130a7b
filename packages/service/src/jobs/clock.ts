const MAX_DRIFT_US = 10_000;

/** The time in microseconds since 1970: the wall clock, with finer steps than it has, and never back by a little. */
export function createClock(): () => number {
  let baseUs = 0;
  let base = 0n;
  return () => {
    const now = process.hrtime.bigint();
    const fineUs = baseUs + Number((now - base) / 1000n);
    const wallUs = Date.now() * 1000;
    // The wall clock was set, or the machine slept.
    if (Math.abs(wallUs - fineUs) <= MAX_DRIFT_US) return fineUs;
    baseUs = wallUs;
    base = now;
    return wallUs;
  };
}
