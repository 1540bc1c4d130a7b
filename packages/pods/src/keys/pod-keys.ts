import {
  createKeySet,
  type KeySet,
  loadKeySet,
  rotateKeySet,
  type SigningKey,
  type StoredKeySet,
  storeKeySet,
  type VerifyKeys,
  verifyKeysOf,
} from "@steps/pod-tokens/keys";
import type { Database } from "../database/database.ts";

/** The row as it is stored: the keys, and when they were last moved on, in seconds since 1970. */
interface StoredKeys {
  readonly set: StoredKeySet;
  readonly rotatedAt: number;
}

/** How long another process may not know that the keys were moved on: the next key is published long before it signs. */
const REFRESH_MS = 60_000;
const ROTATE_AFTER_SECONDS = 30 * 24 * 3600;

/** The keys of a pod, which all of its processes share by its database. */
export class PodKeys {
  readonly #database: Database;
  readonly #maxLifetimeSeconds: number;
  #set: KeySet;
  #verify: VerifyKeys;
  #readAt = performance.now();

  /** Reads the keys, and makes them the first time. The lifetime is the longest that a token may have. */
  static async open(database: Database, maxLifetimeSeconds: number): Promise<PodKeys> {
    const fresh: StoredKeys = { set: storeKeySet(createKeySet()), rotatedAt: seconds() };
    await database.query("UPDATE pod SET keys = $1::jsonb WHERE keys IS NULL", [JSON.stringify(fresh)]);
    return new PodKeys(database, maxLifetimeSeconds, loadKeySet((await readKeys(database)).set));
  }

  private constructor(database: Database, maxLifetimeSeconds: number, set: KeySet) {
    this.#database = database;
    this.#maxLifetimeSeconds = maxLifetimeSeconds;
    this.#set = set;
    this.#verify = verifyKeysOf(set, seconds());
  }

  /** The key that signs. */
  get active(): SigningKey {
    return this.#set.active;
  }

  /** The keys that verify. */
  get verify(): VerifyKeys {
    return this.#verify;
  }

  /** Reads the keys again if they are old; called now and then. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < REFRESH_MS) return;
    this.#readAt = performance.now();
    const { rotatedAt } = await readKeys(this.#database);
    if (seconds() - rotatedAt > ROTATE_AFTER_SECONDS) await this.rotate();
    else this.#take(loadKeySet((await readKeys(this.#database)).set));
  }

  /** Moves the keys on by one: the old one verifies until its last token has expired. */
  async rotate(): Promise<void> {
    const set = await this.#database.transaction(async (sql) => {
      await sql.query("SELECT FROM pod FOR UPDATE");
      const now = seconds();
      const old = loadKeySet((await readKeys(sql)).set);
      const next = rotateKeySet(old, { now, maxLifetimeSeconds: this.#maxLifetimeSeconds });
      const stored: StoredKeys = { set: storeKeySet(next), rotatedAt: now };
      await sql.query("UPDATE pod SET keys = $1::jsonb", [JSON.stringify(stored)]);
      return next;
    });
    this.#take(set);
  }

  #take(set: KeySet): void {
    this.#set = set;
    this.#verify = verifyKeysOf(set, seconds());
  }
}

async function readKeys(sql: Pick<Database, "query">): Promise<StoredKeys> {
  const [row] = await sql.query<{ keys: StoredKeys }>("SELECT keys FROM pod");
  return (row as NonNullable<typeof row>).keys;
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
