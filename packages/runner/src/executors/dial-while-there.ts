import { ClientError, type Dial } from "@steps/client";

/**
 * Dials a place that never comes back once it is gone, such as the container of a job. `problem` says what became of the place, or
 * nothing as long as it is there; a dial that fails with a problem is the last one.
 *
 * @throws {ClientError} CONNECTION_LOST with the problem
 */
export function dialWhileThere(dial: Dial, problem: () => Promise<string | undefined>): Dial {
  return async (signal) => {
    try {
      return await dial(signal);
    } catch (cause) {
      const found = signal.aborted ? undefined : await problem().catch(() => undefined);
      if (found !== undefined) throw new ClientError("CONNECTION_LOST", found, { cause });
      throw cause;
    }
  };
}
