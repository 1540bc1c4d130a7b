import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@steps/model";
import { CLAIM_ANSWERS, CLAIM_REQUESTS, type ClaimAnswer, type ClaimRequest } from "../link/messages.ts";
import type { Log } from "@steps/model/operation";

/** The most calls to one pod at once, and the most claims of one call: the others collect meanwhile. */
const MAX_CALLS = 4;
const MAX_CLAIMS = 16;
const TIMEOUT_MS = 10_000;
const MAX_DOWN_MS = 30_000;
/** A call whose answer was lost is made once more at once, since a repetition does no harm. */
const AGAIN_MS = 200;

/** A claim that waits for its pod. */
interface Asked {
  readonly claim: ClaimRequest;
  readonly settle: (answer: ClaimAnswer | "unavailable") => void;
}

/** The daemon's way to one pod. A pod that does not answer is left alone for a while, and keeps nobody else from working. */
export class PodLink {
  readonly number: number;
  readonly url: string;
  readonly #token: string;
  readonly #log: Log;
  readonly #asked: Asked[] = [];
  #calls = 0;
  #failures = 0;
  #downUntil = 0;

  constructor({ number, url, token, log }: { number: number; url: URL; token: string; log: Log }) {
    this.number = number;
    this.url = url.origin;
    this.#token = token;
    this.#log = log;
  }

  /** Whether the pod is left alone for now. */
  get isDown(): boolean {
    return performance.now() < this.#downUntil;
  }

  /** Whether the pod gets claims: it is not down, and has fewer than it may have. */
  get isReady(): boolean {
    return !this.isDown && (this.#calls < MAX_CALLS || this.#asked.length < MAX_CLAIMS);
  }

  /** The pod has just begun to speak: it is asked again at once. */
  heard(): void {
    this.#downUntil = 0;
  }

  /** Claims a job. */
  async claim(claim: ClaimRequest): Promise<ClaimAnswer | "unavailable"> {
    return await new Promise((settle) => {
      this.#asked.push({ claim, settle });
      this.#flush();
    });
  }

  /** Puts a job back whose runner had gone. The lease would do it too, later. */
  async release(jobId: number, attempt: number): Promise<void> {
    await this.#post(`/internal/v1/jobs/${jobId}/release?attempt=${attempt}`, "").catch(() => {});
  }

  #flush(): void {
    while (this.#calls < MAX_CALLS && this.#asked.length > 0) void this.#call(this.#asked.splice(0, MAX_CLAIMS));
  }

  async #call(asked: readonly Asked[]): Promise<void> {
    this.#calls += 1;
    const body = CLAIM_REQUESTS.write({ claims: asked.map(({ claim }) => claim) });
    try {
      const answers = await this.#claimTwice(body);
      this.#failures = 0;
      for (const [at, { settle, claim }] of asked.entries()) settle(answers[at] ?? { job_id: claim.job_id });
    } catch (error) {
      this.#failures += 1;
      this.#downUntil = performance.now() + Math.min(MAX_DOWN_MS, 500 * 2 ** this.#failures);
      this.#log("warning", "A pod does not take claims", { pod: this.number, reason: messageOf(error) });
      for (const { settle } of asked) settle("unavailable");
    }
    this.#calls -= 1;
    this.#flush();
  }

  async #claimTwice(body: string): Promise<readonly ClaimAnswer[]> {
    try {
      return await this.#claimOnce(body);
    } catch {
      await sleep(AGAIN_MS);
      return await this.#claimOnce(body);
    }
  }

  async #claimOnce(body: string): Promise<readonly ClaimAnswer[]> {
    return CLAIM_ANSWERS.read(await this.#post("/internal/v1/claims", body)).claims;
  }

  async #post(path: string, body: string): Promise<Uint8Array> {
    const reply = await fetch(this.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: "error",
    });
    const bytes = new Uint8Array(await reply.arrayBuffer());
    if (!reply.ok) throw new Error(`The pod answered with status ${reply.status}`);
    return bytes;
  }
}
