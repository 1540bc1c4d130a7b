import { Code, ConnectError } from "@connectrpc/connect";
import { isStepsError } from "@steps/model";
import { setTimeout as sleep } from "node:timers/promises";
import { HINT, isDenied, isFinal, isPermanent, serviceCodeOf } from "./classify.ts";
import { ClientError } from "./client-error.ts";
import { connectService, type ConnectOptions } from "./connect-service.ts";
import type { Dial } from "./dial.ts";
import { reasonOf } from "./reason-of.ts";
import { Retries } from "./retries.ts";
import type { ServerIdentity, ServiceClient } from "./service-client.ts";

/** The events of a connection. Their reasons are texts for people. */
export type LinkState =
  | { readonly type: "connected"; readonly server: ServerIdentity; readonly attempt: number }
  /** Another process answers than before, so the jobs that ran were interrupted. */
  | { readonly type: "restarted"; readonly server: ServerIdentity }
  | { readonly type: "lost"; readonly reason: string }
  /**
   * The attempt that failed was the `attempt`th in a row; the next is made after `delayMs`. `serviceCode` is the service's own word for
   * why it refused: `TOO_MANY_JOBS` when it has no free place, `SERVICE_DRAINING` when it is about to end.
   */
  | {
      readonly type: "retrying";
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
      readonly serviceCode?: string | undefined;
    };

export interface LinkOptions extends Omit<ConnectOptions, "signal"> {
  /** How long a lost connection is tried again. */
  readonly reconnectWindowMs: number;
  /** How long the first connection is tried. */
  readonly connectWindowMs: number;
  readonly onState: (state: LinkState) => void;
  /** Said of a connection that could not be made again: what is left behind. */
  readonly describeRest: () => string;
}

/** A connection that held for so long was good, even if nothing was said on it. */
const HEALTHY_AFTER_MS = 10_000;
/**
 * A target that was not found may come back, as a restarted container does, but it is waited for less long than a
 * network.
 */
const PERMANENT_WINDOW_MS = 30_000;

/** One connection at a time to a service, made again when it is lost. */
export class Link implements Disposable {
  readonly #dial: Dial;
  readonly #options: LinkOptions;
  readonly #retries: Retries;
  readonly #stop = new AbortController();
  #service: ServiceClient | undefined;
  #dialling: Promise<ServiceClient> | undefined;
  #instance: string | undefined;
  #isRestarted = false;

  constructor(dial: Dial, options: LinkOptions) {
    this.#dial = dial;
    this.#options = options;
    this.#retries = new Retries(options.reconnectWindowMs);
  }

  /** True when another process answers than at first. */
  get isRestarted(): boolean {
    return this.#isRestarted;
  }

  /** The connection, if there is one now. */
  get current(): ServiceClient | undefined {
    return this.#service?.lost.aborted === false ? this.#service : undefined;
  }

  /** Aborted when the link is given up; what waits for it rejects with the reason. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Calls the service until it answers. A call that fails because the connection was lost, or in a way that may pass, is
   * made again; it tells of progress, so that only failures in a row count.
   *
   * @throws {ClientError} CONNECTION_FAILED, CONNECTION_LOST; a final `ConnectError`; whatever else the call throws
   */
  async use<T>(call: (service: ServiceClient, progress: () => void) => Promise<T>): Promise<T> {
    const retries = new Retries(this.#options.reconnectWindowMs);
    const progress = (): void => {
      retries.reset();
      this.#retries.reset();
    };
    for (;;) {
      const service = await this.#connect();
      try {
        const answer = await call(service, progress);
        progress();
        return answer;
      } catch (error) {
        this.#stop.signal.throwIfAborted();
        if (isFinal(error)) throw error;
        // A connection that is lost is waited for where it is made.
        if (service.lost.aborted) continue;
        // No answer in time says nothing good of what is between us.
        if ((error as ConnectError).code === Code.DeadlineExceeded) service.abandon(reasonOf(error));
        const delayMs = retries.next();
        if (delayMs === undefined) throw keepsFailing(error, retries);
        const state = { attempt: retries.failures, delayMs, reason: reasonOf(error) };
        this.#tell({ type: "retrying", ...state, serviceCode: serviceCodeOf(error) });
        await this.#pause(delayMs);
      }
    }
  }

  /** Gives the connection up for good. */
  end(reason: Error): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort(reason);
    this.#service?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.end(new ConnectError("The connection was closed", Code.Canceled));
  }

  async #connect(): Promise<ServiceClient> {
    this.#stop.signal.throwIfAborted();
    return (
      this.current ?? (await (this.#dialling ??= this.#dialUntilThere().finally(() => (this.#dialling = undefined))))
    );
  }

  async #dialUntilThere(): Promise<ServiceClient> {
    const { signal } = this.#stop;
    const { token, bearer } = this.#options;
    let delayMs = this.#service === undefined ? 0 : this.#nextDelay(this.#service.lost.reason);
    for (;;) {
      await this.#pause(delayMs);
      try {
        const service = await connectService(this.#dial, { token, bearer, signal });
        this.#adopt(service);
        return service;
      } catch (error) {
        signal.throwIfAborted();
        if (isHopeless(error)) throw error;
        delayMs = this.#nextDelay(error);
        this.#tell({ type: "retrying", attempt: this.#retries.failures, delayMs, reason: reasonOf(error) });
      }
    }
  }

  async #pause(delayMs: number): Promise<void> {
    await sleep(delayMs, undefined, { signal: this.#stop.signal }).catch(() => this.#stop.signal.throwIfAborted());
  }

  #nextDelay(error: unknown): number {
    const { connectWindowMs, reconnectWindowMs } = this.#options;
    const isFirst = this.#service === undefined;
    if (isFirst && isPermanent(error)) throw error;
    const windowMs = isFirst ? connectWindowMs : reconnectWindowMs;
    const delayMs = this.#retries.next(isPermanent(error) ? Math.min(windowMs, PERMANENT_WINDOW_MS) : windowMs);
    if (delayMs === undefined) throw this.#giveUp(error, this.#retries);
    return delayMs;
  }

  #adopt(service: ServiceClient): void {
    const since = performance.now();
    this.#service = service;
    service.lost.addEventListener("abort", () => {
      if (this.#stop.signal.aborted) return;
      if (performance.now() - since > HEALTHY_AFTER_MS) this.#retries.reset();
      this.#tell({ type: "lost", reason: reasonOf(service.lost.reason) });
    });
    this.#tell({ type: "connected", server: service.server, attempt: this.#retries.failures + 1 });
    const { instance } = service.server;
    if (this.#instance !== undefined && this.#instance !== instance) {
      this.#isRestarted = true;
      this.#tell({ type: "restarted", server: service.server });
    }
    this.#instance = instance;
  }

  #giveUp(cause: unknown, retries: Retries): ClientError {
    const isFirst = this.#service === undefined;
    const what = isFirst ? "There is no connection to the service" : "The connection to the service is lost";
    const rest = this.#options.describeRest();
    return new ClientError(
      isFirst ? "CONNECTION_FAILED" : "CONNECTION_LOST",
      `${what}${tried(retries)}: ${reasonOf(cause)}${rest === "" ? "" : `. ${rest}`}`,
      { cause, hint: isStepsError(cause) ? cause.hint : undefined },
    );
  }

  #tell(state: LinkState): void {
    this.#options.onState(state);
  }
}

/** Neither the way to the service nor the service will be better for waiting. */
function isHopeless(error: unknown): boolean {
  return error instanceof ClientError || (error instanceof ConnectError ? isFinal(error) : isDenied(error));
}

/** The service answers, and says each time that it cannot. */
function keepsFailing(cause: unknown, retries: Retries): ClientError {
  const serviceCode = serviceCodeOf(cause);
  const what = serviceCode === "TOO_MANY_JOBS" ? "There was no free place on the service" : "The service keeps failing";
  const [reason, hint] = reasonOf(cause).split(HINT);
  return new ClientError("REFUSED", `${what}${tried(retries)}: ${reason}`, { cause, hint, serviceCode });
}

function tried({ failures, failingForMs }: Retries): string {
  return failures < 2 ? "" : ` (${failures} attempts in ${(failingForMs / 1000).toFixed(1)} s)`;
}
