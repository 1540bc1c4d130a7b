let isStuck = false;

/** Notes that a call of the file system waits for a thread that the system did not start, and so will never be answered. */
export function noteStuckThread(): void {
  isStuck = true;
}

/** Whether the process would never end by itself, because the engine waits for such a call. */
export function hasStuckThread(): boolean {
  return isStuck;
}
