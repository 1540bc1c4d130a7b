import { sha256 } from "@steps/platform";
import { HttpError, conflict, notFound, tooLarge } from "../http/http-error.ts";
import type { ServiceLimits } from "../options.ts";
import type { Budget } from "../store/budget.ts";
import { entryPath } from "../store/cache-entry.ts";
import type { RangeUpload } from "../store/range-upload.ts";
import type { Upload, UploadOptions } from "../store/upload.ts";
import type { WorkFolder } from "../store/work-folder.ts";

/** A key and a version that somebody is about to fill. */
export interface Reservation<U extends Upload = Upload> {
  readonly id: number;
  readonly key: string;
  readonly version: string;
  readonly upload: U;
}

export interface ReserveRequest {
  readonly key: string;
  readonly version: string;
  readonly size?: number | undefined;
}

export interface ReservationParts {
  readonly work: WorkFolder;
  readonly budget: Budget;
  readonly scope: string;
  readonly limits: ServiceLimits;
}

/** Saves that are under way. */
export interface Reservations {
  readonly ranges: Map<number, RangeUpload>;
  /** A save that is now being ended, by nobody but the caller, who removes it. Refused while it is being written. */
  readonly claim: (which: number | { readonly key: string; readonly version: string }) => Reservation;
  readonly add: <U extends Upload>(
    of: ReserveRequest,
    create: (options: UploadOptions) => Promise<U>,
  ) => Promise<Reservation<U>>;
  readonly remove: (reservation: Reservation) => Promise<void>;
  readonly prune: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Admits one save of a key at a time: within this process by a table, among processes by the name of its work folder.
 */
export function createReservations({ work, budget, scope, limits }: ReservationParts): Reservations {
  const byName = new Map<string, Reservation | "opening">();
  const claimed = new WeakSet<Reservation>();
  const ranges = new Map<number, RangeUpload>();
  let lastId = 0;
  const nameOf = (of: { readonly key: string; readonly version: string }): string =>
    sha256(entryPath(scope, of.version, of.key));
  const remove = async (reservation: Reservation): Promise<void> => {
    await reservation.upload.discard();
    ranges.delete(reservation.id);
    if (byName.get(nameOf(reservation)) === reservation) byName.delete(nameOf(reservation));
  };
  const prune = async (): Promise<void> => {
    for (const reservation of byName.values()) {
      if (reservation === "opening" || claimed.has(reservation) || reservation.upload.isBusy()) continue;
      if (Date.now() - reservation.upload.touchedAtMs() > limits.reservationMs) await remove(reservation);
    }
  };
  return {
    ranges,
    remove,
    prune,
    claim: (which) => {
      const all = [...byName.values()].filter((reservation) => reservation !== "opening");
      const found =
        typeof which === "number"
          ? all.find(({ id }) => id === which)
          : all.find((one) => nameOf(one) === nameOf(which));
      if (found === undefined) throw notFound("No save is under way for this key and version");
      if (claimed.has(found) || found.upload.isBusy()) {
        throw new HttpError(409, "failed_precondition", "The upload is still being written or ended");
      }
      claimed.add(found);
      return found;
    },
    add: async (of, create) => {
      await prune();
      const name = nameOf(of);
      if (byName.has(name)) throw alreadyExists();
      if (byName.size >= limits.maxOpenUploads) throw tooLarge("Too many saves are under way");
      byName.set(name, "opening");
      try {
        if (await work.isElsewhere(name)) throw alreadyExists();
        const dir = await work.makeDir(name);
        const maxBytes = Math.min(limits.maxCacheEntryBytes, limits.maxCacheBytes);
        const upload = await create({ dir, maxBytes, budget });
        const reservation = { id: (lastId += 1), key: of.key, version: of.version, upload };
        byName.set(name, reservation);
        return reservation;
      } catch (error) {
        byName.delete(name);
        throw error;
      }
    },
    close: async () => {
      for (const reservation of byName.values()) if (reservation !== "opening") await remove(reservation);
    },
  };
}

/** The refusal of a second save, in GitHub's words. */
export function alreadyExists(): HttpError {
  return conflict("cache entry with the same key, version, and scope already exists");
}
