import { randomUUID } from "node:crypto";
import { messageOf } from "@steps/model";
import type { Pod } from "../pod/pod.ts";
import type { DaemonAddress } from "../pod/pod-options.ts";
import { type JobNews, NEWS_BATCH } from "./messages.ts";
import { clearOutbox, readOffered, readOutbox } from "./outbox.ts";

/** The most jobs of one batch. */
const BATCH = 1_000;
/** How often the outbox is looked at without a hint. */
const LOOK_MS = 1_000;
/** How often the daemon hears of a pod that has no news: only then can it say that it forgot what it knew. */
const GREETING_MS = 2_000;
const MAX_BACKOFF_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** How long a process of the pod that was killed keeps others from publishing. */
const TURN_SECONDS = 5;

/** The news that one process tells the daemon in one go. */
interface Session {
  readonly id: string;
  batch: number;
}

/**
 * Tells the daemon what the pod offers: first everything, then each change in the order in which the changes were made. A row of the outbox
 * goes when its news have arrived. One process of a pod does it at a time.
 */
export class OfferPublisher {
  readonly #pod: Pod;
  readonly #daemon: DaemonAddress;
  readonly #self = randomUUID();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #wake: () => void = () => {};
  #end: () => void = () => {};
  #isAwake = false;
  #session: Session | undefined;
  #greetedAt = Number.NEGATIVE_INFINITY;
  #isDown = false;

  constructor(pod: Pod, daemon: DaemonAddress) {
    this.#pod = pod;
    this.#daemon = { ...daemon, url: daemon.url.replace(/\/+$/, "") };
    pod.database.onHint((text) => {
      if (text === "queue") this.#poke();
    });
    this.#running = this.#run();
  }

  /** Ends after the batch that is under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#end();
    await this.#running;
    if (this.#pod.database.kind === "embedded") return;
    // Another process need not wait for the end of this one's turn.
    await this.#pod.database.query("DELETE FROM publisher WHERE holder = $1", [this.#self]).catch(() => {});
  }

  #poke(): void {
    this.#isAwake = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      this.#isAwake = false;
      try {
        const isMore = (await this.#isOnTurn()) && (await this.#publish());
        failures = 0;
        if (!isMore && !this.#isAwake) await this.#pause(LOOK_MS);
      } catch (error) {
        failures += 1;
        this.#tellDown(error);
        await this.#pause(Math.min(MAX_BACKOFF_MS, 100 * 2 ** failures), false);
      }
    }
  }

  async #pause(ms: number, isPoked = true): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#end = resolve;
    if (isPoked) this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  /** Whether this process publishes. A process that lost its turn begins anew when it gets it back. */
  async #isOnTurn(): Promise<boolean> {
    const { database } = this.#pod;
    if (database.kind === "embedded") return true;
    const taken = await database.query(
      `INSERT INTO publisher (holder, until) VALUES ($1, now() + make_interval(secs => ${TURN_SECONDS}))
       ON CONFLICT (single) DO UPDATE SET holder = excluded.holder, until = excluded.until
       WHERE publisher.holder = excluded.holder OR publisher.until < now() RETURNING holder`,
      [this.#self],
    );
    if (taken.length === 0) this.#session = undefined;
    return taken.length > 0;
  }

  /** Gives whether there may be more to tell. */
  async #publish(): Promise<boolean> {
    const { database } = this.#pod;
    const news = await readOutbox(database, BATCH);
    if (this.#session === undefined) {
      // Everything that the rows stand for is in what is read after them.
      await this.#begin();
    } else if (news.rows.length > 0) {
      if (!(await this.#send(this.#session, news.jobs))) return true;
    } else if (performance.now() - this.#greetedAt > GREETING_MS) {
      return !(await this.#greet(this.#session));
    }
    await clearOutbox(database, news.rows);
    return news.rows.length === BATCH;
  }

  async #begin(): Promise<void> {
    const session = { id: randomUUID(), batch: 0 };
    for (let last = 0, completes = false; !completes;) {
      const jobs = await readOffered(this.#pod.database, last, BATCH);
      completes = jobs.length < BATCH;
      if (!(await this.#send(session, jobs, completes)))
        throw new Error("The daemon does not take what the pod offers");
      last = jobs.at(-1)?.id ?? last;
    }
    this.#session = session;
    this.#pod.metrics.add("offer_sessions_total");
    this.#pod.settings.log("info", "The daemon has the offers of the pod", { daemon: this.#daemon.url });
  }

  /** Gives whether the daemon took the batch. If it did not, the next thing is a new session. */
  async #send(session: Session, jobs: readonly JobNews[], completes?: boolean): Promise<boolean> {
    const isTaken = await this.#post({ session: session.id, batch: session.batch + 1, completes, jobs });
    if (isTaken) session.batch += 1;
    else this.#session = undefined;
    if (isTaken) this.#pod.metrics.add("offer_news_total", {}, jobs.length);
    return isTaken;
  }

  /** A batch that the daemon has had already tells it nothing, but that the pod is there. */
  async #greet({ id: session, batch }: Session): Promise<boolean> {
    const isKnown = await this.#post({ session, batch, jobs: [] });
    if (!isKnown) this.#session = undefined;
    return isKnown;
  }

  async #post(batch: Omit<Parameters<typeof NEWS_BATCH.write>[0], "pod">): Promise<boolean> {
    const { url, token } = this.#daemon;
    const reply = await fetch(`${url}/internal/v1/offers`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: NEWS_BATCH.write({ pod: this.#pod.settings.pod, ...batch }),
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#closing.signal]),
    });
    await reply.arrayBuffer();
    if (reply.status !== 200 && reply.status !== 409)
      throw new Error(`The daemon answered with status ${reply.status}`);
    this.#greetedAt = performance.now();
    if (this.#isDown) this.#pod.settings.log("info", "The daemon answers again", { daemon: url });
    this.#isDown = false;
    return reply.status === 200;
  }

  #tellDown(error: unknown): void {
    if (this.#isDown || this.#closing.signal.aborted) return;
    this.#isDown = true;
    const { url: daemon } = this.#daemon;
    this.#pod.settings.log("warning", "The daemon cannot be told what the pod offers", {
      daemon,
      reason: messageOf(error),
    });
  }
}
