import { badRequest, notFound, tooLarge } from "../http/http-error.ts";
import { createBlockUpload } from "../store/block-upload.ts";
import type { BlockUpload } from "../store/block-upload.ts";
import type { CacheEntry } from "../store/cache-entry.ts";
import type { CacheStore } from "../store/cache-store.ts";
import { createRangeUpload } from "../store/range-upload.ts";
import type { RangeUpload } from "../store/range-upload.ts";
import { alreadyExists, createReservations } from "./reservations.ts";
import type { Reservation, ReservationParts, ReserveRequest } from "./reservations.ts";

/** GitHub's limits, which its own clients hold themselves to as well. */
const MAX_KEY_LENGTH = 512;
const MAX_KEYS = 10;
const MAX_VERSION_LENGTH = 512;

/** The operations of both generations of the protocol, in common terms. */
export interface CacheService {
  readonly find: (keys: readonly string[], version: string) => Promise<CacheEntry | undefined>;
  readonly list: (keyPrefix: string) => Promise<readonly CacheEntry[]>;
  readonly reserveRanges: (of: ReserveRequest) => Promise<Reservation<RangeUpload>>;
  readonly reserveBlocks: (of: ReserveRequest) => Promise<Reservation<BlockUpload>>;
  /** The upload of a reservation of ranges; 404 when there is none. */
  readonly rangesOf: (id: number) => RangeUpload;
  /** Publishes what was uploaded, by the number of the reservation or by what it is for. A failure ends the reservation. */
  readonly finish: (
    which: number | { readonly key: string; readonly version: string },
    size: number | undefined,
  ) => Promise<Reservation>;
  /** Gives up saves that nobody has written to for long. */
  readonly prune: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface Parts extends ReservationParts {
  readonly store: CacheStore;
}

/** The caches of a job: lookups, and saves that are under way. */
export function createCacheService(parts: Parts): CacheService {
  const { store, limits } = parts;
  const reservations = createReservations(parts);
  const checkedKeys = (keys: readonly string[], version: string): void => {
    if (keys.length === 0 || keys.length > MAX_KEYS) throw badRequest(`A lookup has 1 to ${MAX_KEYS} keys`);
    keys.forEach((key) => checkKey(key));
    checkVersion(version);
  };
  const check = async ({ key, version, size = 0 }: ReserveRequest): Promise<void> => {
    checkedKeys([key], version);
    const maxBytes = Math.min(limits.maxCacheEntryBytes, limits.maxCacheBytes);
    if (size > maxBytes) throw tooLarge(`Cache size of ${size} bytes is over the limit of ${maxBytes} bytes`);
    if (await store.has(key, version)) throw alreadyExists();
  };
  return {
    list: store.list,
    find: async (keys, version) => {
      checkedKeys(keys, version);
      return await store.find(keys, version);
    },
    reserveRanges: async (request) => {
      await check(request);
      const reservation = await reservations.add(request, createRangeUpload);
      reservations.ranges.set(reservation.id, reservation.upload);
      return reservation;
    },
    reserveBlocks: async (request) => {
      await check(request);
      return await reservations.add(request, createBlockUpload);
    },
    rangesOf: (id) => {
      const upload = reservations.ranges.get(id);
      if (upload === undefined) throw notFound("No save is under way under this number");
      return upload;
    },
    finish: async (which, size) => {
      const reservation = reservations.claim(which);
      try {
        const file = await reservation.upload.seal(size);
        await store.publish(reservation, file);
      } finally {
        // The reservation goes after a failure too: another save may do better, and this one cannot.
        await reservations.remove(reservation);
      }
      return reservation;
    },
    prune: reservations.prune,
    close: reservations.close,
  };
}

function checkKey(key: string): void {
  if (key === "" || key.length > MAX_KEY_LENGTH) throw badRequest(`A key has 1 to ${MAX_KEY_LENGTH} characters`);
  if (key.includes(",")) throw badRequest("A key may not contain a comma");
}

function checkVersion(version: string): void {
  if (version === "" || version.length > MAX_VERSION_LENGTH) {
    throw badRequest(`A version has 1 to ${MAX_VERSION_LENGTH} characters`);
  }
}
