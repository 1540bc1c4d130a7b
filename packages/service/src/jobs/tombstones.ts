import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { sha256 } from "@steps/platform";

const MAX_TOMBSTONES = 10_000;
const MAX_AGE_MS = 24 * 3_600_000;

interface Tombstone {
  /** SHA-256 of id and request digest. */
  readonly key: string;
  readonly serial: string;
  readonly at: number;
}

/** The requests whose jobs were closed or have expired: one that comes late must not run again. */
export class Tombstones {
  readonly #path: string;
  readonly #known = new Map<string, Omit<Tombstone, "key">>();
  #lines = 0;

  constructor(path: string) {
    this.#path = path;
    for (const { key, serial, at } of readAll(path)) {
      this.#known.set(key, { serial, at });
      this.#lines += 1;
    }
    this.#trim(Date.now());
  }

  has(id: string, requestDigest: string): boolean {
    const known = this.#known.get(keyOf(id, requestDigest));
    return known !== undefined && Date.now() - known.at < MAX_AGE_MS;
  }

  /** The serials of jobs that were buried, maybe before their folders were gone. */
  serials(): ReadonlySet<string> {
    return new Set([...this.#known.values()].map(({ serial }) => serial));
  }

  /** @throws if the disk does not take it; it is known nevertheless */
  add({
    id,
    requestDigest,
    serial,
  }: {
    readonly id: string;
    readonly requestDigest: string;
    readonly serial: string;
  }): void {
    const at = Date.now();
    const key = keyOf(id, requestDigest);
    this.#known.delete(key);
    this.#known.set(key, { serial, at });
    this.#trim(at);
    this.#lines += 1;
    if (this.#lines > 2 * MAX_TOMBSTONES) this.compact();
    // A line of its own even if the one before was cut off.
    else appendFileSync(this.#path, `\n${JSON.stringify({ key, serial, at })}`, { mode: 0o600 });
  }

  /** Writes what is still known anew. */
  compact(): void {
    const lines = [...this.#known].map(([key, { serial, at }]) => `\n${JSON.stringify({ key, serial, at })}`);
    writeFileSync(`${this.#path}.next`, lines.join(""), { mode: 0o600 });
    renameSync(`${this.#path}.next`, this.#path);
    this.#lines = this.#known.size;
  }

  #trim(now: number): void {
    for (const [key, { at }] of this.#known) {
      if (this.#known.size <= MAX_TOMBSTONES && now - at < MAX_AGE_MS) return;
      this.#known.delete(key);
    }
  }
}

function keyOf(id: string, requestDigest: string): string {
  return sha256(JSON.stringify([id, requestDigest]));
}

function* readAll(path: string): Generator<Tombstone> {
  for (const line of readOptional(path).split("\n")) {
    const json = parse(line);
    if (typeof json !== "object" || json === null) continue;
    const { key, serial, at } = json as Partial<Record<keyof Tombstone, unknown>>;
    if (typeof key === "string" && typeof serial === "string" && typeof at === "number") yield { key, serial, at };
  }
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw cause;
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
