import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Random } from "../kit/random.ts";
import type { Victim, World } from "./world.ts";

/** How often something was done to a world, by its name. */
export type Tally = Record<string, number>;

const PAUSE_MS = [50, 800] as const;
/** The bytes by which the ledgers grow, a few lines, before the next blow: on a busy machine jobs get on slowly, and are cut as slowly. */
const PROGRESS_BYTES = 300;
const LONGEST_PAUSE_MS = 4_000;
/** A program that is killed all the time does nothing but start: after each start it has this time, and that of the start once more. */
const LIFE_MS = { pod: 8_000, router: 2_000, "small runner": 4_000, "our runner": 10_000 } as const;
const SERVER_EVERY_MS = 20_000;

/** Kills and cuts until it is told to end; then everything runs again. */
export class Chaos {
  readonly #world: World;
  readonly #random: Random;
  readonly #over = new AbortController();
  readonly #restarts = new Set<Promise<void>>();
  readonly #done: Promise<void>;
  #lastServer = 0;
  readonly tally: Tally = { "pods killed": 0, "routers killed": 0, "runners killed": 0, "sockets cut": 0 };

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#done = this.#rage();
    this.#done.catch(() => this.#over.abort());
  }

  /** Whether something could not be started again; `end()` says what. */
  get isBroken(): boolean {
    return this.#over.signal.aborted;
  }

  /** Ends it. @throws when something could not be started again */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#done;
    await Promise.all(this.#restarts);
  }

  async #rage(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#strike(this.#random.next());
      const written = this.#written();
      const latest = performance.now() + LONGEST_PAUSE_MS;
      do await this.#pause(this.#random.int(...PAUSE_MS));
      while (!this.isBroken && this.#written() < written + PROGRESS_BYTES && performance.now() < latest);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => undefined);
  }

  /** The size of all ledgers. */
  #written(): number {
    return this.#world.ledgers.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  async #strike(dice: number): Promise<void> {
    if (dice < 0.15) await this.#kill("pod", "pods killed");
    else if (dice < 0.25) await this.#kill("router", "routers killed");
    else if (dice < 0.33) await this.#kill("small runner", "runners killed");
    else if (dice < 0.36) await this.#kill("our runner", "runners killed");
    else if (dice < 0.55 && this.#world.database !== undefined) await this.#hitDatabase();
    else this.#count("sockets cut", this.#random.pick(this.#world.relays).cut(0.3));
  }

  async #kill(kind: Victim["kind"], name: string): Promise<void> {
    const victim = this.#random.pick(this.#world.victims.filter((one) => one.kind === kind));
    if (performance.now() < victim.mayEndAt + LIFE_MS[kind]) return;
    victim.mayEndAt = Number.POSITIVE_INFINITY;
    await victim.program.kill();
    this.#count(name, 1);
    const restart = sleep(this.#random.int(0, 1000)).then(async () => {
      const before = performance.now();
      await victim.program.start();
      victim.mayEndAt = 2 * performance.now() - before;
    });
    restart.catch(() => this.#over.abort());
    this.#restarts.add(restart);
  }

  async #hitDatabase(): Promise<void> {
    const { server, relay } = this.#world.database as NonNullable<World["database"]>;
    if (this.#random.next() < 0.5) return this.#count("database sockets cut", relay.cut(0.3));
    if (this.#random.next() < 0.3 && performance.now() - this.#lastServer > SERVER_EVERY_MS) {
      this.#lastServer = performance.now();
      await server.kill();
      await sleep(this.#random.int(0, 1500));
      await server.start();
      return this.#count("database servers killed", 1);
    }
    const client = new Client({ host: server.dir, user: server.user, database: "postgres" });
    await client.connect();
    const { rowCount } = await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pod' AND random() < 0.3",
    );
    await client.end();
    this.#count("database connections ended", rowCount ?? 0);
  }

  #count(name: string, count: number): void {
    this.tally[name] = (this.tally[name] ?? 0) + count;
  }
}
