/** Sends a signal to a process, or with a negative number to a process group; 0 only asks. Returns whether there is one. */
export function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  // A group that is gone is the usual answer; the trace of calls that Node makes for it costs more than the question.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    // EPERM: there is something, but it has taken another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Sends a signal to a process group; 0 only asks. Returns whether there is one. */
export function signalGroup(pgid: number, signal: NodeJS.Signals | 0): boolean {
  return sendSignal(-pgid, signal);
}
