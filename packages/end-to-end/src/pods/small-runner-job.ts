import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { inspectBuildToken } from "@steps/pod-tokens";
import type { RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerInfo } from "@steps/runner-api/messages";
import { formatChecksum, traceCrc } from "@steps/runner-api/trace";
import type { Random } from "../kit/random.ts";
import { contentOf, type JobContent } from "./job-content.ts";
import { type LedgerLine, note } from "./ledger.ts";

interface Runner {
  readonly api: RunnerApi;
  readonly info: RunnerInfo;
  /** Confirms a job before it begins. */
  readonly confirms: boolean;
  readonly ledger: string;
  readonly random: Random;
}

/** How long a runner asks again before it gives a job up. */
const PATIENCE_MS = 60_000;
const MAX_PIECE = 20_000;

/** The pod does not want to hear of this attempt any more. */
class Stopped extends Error {}

type Saw = LedgerLine extends infer Line ? (Line extends LedgerLine ? Omit<Line, "id" | "attempt"> : never) : never;

/** One attempt at a job, from its payload to its end. */
export class SmallRunnerJob {
  readonly #payload: JobPayload;
  readonly #runner: Runner;
  readonly #attempt: number;
  readonly #content: JobContent;

  constructor(payload: JobPayload, runner: Runner) {
    this.#payload = payload;
    this.#runner = runner;
    this.#attempt = inspectBuildToken(payload.token)?.claims.attempt ?? 0;
    this.#content = contentOf(payload.job_info.name, payload.id, this.#attempt);
  }

  async run(): Promise<void> {
    this.#note({ saw: "given" });
    try {
      if (this.#runner.confirms) await this.#confirm();
      await this.#send(0);
      await this.#upload();
      await this.#end();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.#note({ saw: "refused" });
    }
  }

  #note(saw: Saw): void {
    const { id } = this.#payload;
    note(this.#runner.ledger, { id, attempt: this.#attempt, ...saw } as LedgerLine);
  }

  async #confirm(): Promise<void> {
    await this.#ask(async () => {
      const { id, token } = this.#payload;
      const { status } = await this.#runner.api.updateJob(id, { token, state: "running", info: this.#runner.info });
      return this.#expect("running", status, [200]);
    });
    this.#note({ saw: "accepted" });
  }

  /** Sends the trace from an offset on, in pieces; now and then one of them twice, as after an answer that was lost. */
  async #send(from: number): Promise<void> {
    const { api, random } = this.#runner;
    const { trace } = this.#content;
    const { id, token } = this.#payload;
    for (let offset = from; offset < trace.length;) {
      const start = random.next() < 0.1 ? random.int(0, offset) : offset;
      const bytes = trace.subarray(start, offset + random.int(1, MAX_PIECE));
      offset = await this.#ask(async () => {
        const { status, stored } = await api.patchTrace(id, { token, offset: start, bytes });
        if (!this.#expect("patch", status, [202, 416])) return undefined;
        if (status === 202) this.#note({ saw: "stored", size: stored ?? 0 });
        return stored ?? 0;
      });
      if (random.next() < 0.3) await sleep(random.int(0, 150));
    }
  }

  async #upload(): Promise<void> {
    const { artifact } = this.#content;
    if (artifact === undefined) return;
    const { id, token } = this.#payload;
    await this.#ask(async () => {
      const { status } = await this.#runner.api.uploadArtifact(id, {
        token,
        fileName: "artifacts.zip",
        artifact_type: "archive",
        artifact_format: "zip",
        open: () => Readable.from([artifact]),
      });
      return this.#expect("upload", status, [201]);
    });
    this.#note({ saw: "uploaded" });
  }

  async #end(): Promise<void> {
    const { id, token } = this.#payload;
    const { trace } = this.#content;
    const { info } = this.#runner;
    const output = { checksum: formatChecksum(traceCrc(trace)), bytesize: trace.length };
    await this.#ask(async () => {
      const answer = await this.#runner.api.updateJob(id, { token, info, state: "success", output });
      if (!this.#expect("end", answer.status, [200, 412])) return undefined;
      if (answer.status === 200) {
        this.#note({ saw: "ended", state: answer.jobStatus ?? "" });
        return true;
      }
      this.#note({ saw: "reset" });
      await this.#send(0);
      return undefined;
    });
  }

  /** Asks until there is an answer that counts. */
  async #ask<T>(call: () => Promise<T | undefined>): Promise<T> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
      try {
        const answer = await call();
        if (answer !== undefined) return answer;
      } catch (error) {
        if (error instanceof Stopped) throw error;
        // There was no answer. It may have been heard or not.
      }
      await sleep(this.#runner.random.int(10, 200));
    }
    throw new Error("The pod did not answer");
  }

  /** True for an answer that was hoped for; undefined to ask again. @throws {Stopped} */
  #expect(call: string, status: number, hopedFor: readonly number[]): true | undefined {
    if (hopedFor.includes(status)) return true;
    if (status === 403) throw new Stopped();
    // Half of a request whose connection was cut may reach the pod.
    if (status < 500 && status !== 408 && status !== 400)
      this.#note({ saw: "wrong", what: `${call} was answered with ${status}` });
    return undefined;
  }
}
