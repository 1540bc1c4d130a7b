import type { Budget } from "./budget.ts";
import { HttpError } from "../http/http-error.ts";

/** A file that nobody writes to any more. */
export interface SealedFile {
  readonly path: string;
  readonly size: number;
}

/** An upload in progress: its bytes are in files of a work folder until it is sealed or discarded. */
export interface Upload {
  /** Returns the time of the last write, in milliseconds. */
  readonly touchedAtMs: () => number;
  readonly isBusy: () => boolean;
  /**
   * Ends writing and gives the file with the whole content, whose bytes stay taken from the budget. Refused while a
   * write is under way, when bytes are missing, or when there are not `size` of them.
   */
  readonly seal: (size: number | undefined) => Promise<SealedFile>;
  /** Called after `seal()`: the bytes now count for another owner, and `discard()` does not give them back. */
  readonly handOver: () => void;
  /** Removes what was written and gives its bytes back. */
  readonly discard: () => Promise<void>;
}

export interface UploadOptions {
  /** An existing folder that is this upload's own. */
  readonly dir: string;
  readonly maxBytes: number;
  readonly budget: Budget;
}

/** Counts writes, and lets nobody write after the end. */
export interface WriteGate {
  readonly run: <T>(write: () => Promise<T>) => Promise<T>;
  /** Lets nobody in any more; refused while somebody is inside. */
  readonly shut: () => void;
  /** Lets nobody in any more, whoever is inside. */
  readonly end: () => void;
  readonly isBusy: () => boolean;
  readonly touchedAtMs: () => number;
}

/** A gate that is open. */
export function createWriteGate(): WriteGate {
  let writers = 0;
  let isShut = false;
  let touchedAt = Date.now();
  return {
    run: async (write) => {
      if (isShut) throw new HttpError(409, "failed_precondition", "The upload has ended");
      writers += 1;
      try {
        return await write();
      } finally {
        writers -= 1;
        touchedAt = Date.now();
      }
    },
    shut: () => {
      // A late write would change what is published.
      if (writers > 0) throw new HttpError(409, "failed_precondition", "The upload is still being written");
      if (isShut) throw new HttpError(409, "failed_precondition", "The upload has ended");
      isShut = true;
    },
    end: () => {
      isShut = true;
    },
    isBusy: () => writers > 0,
    touchedAtMs: () => touchedAt,
  };
}
