import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { type HttpError, unavailable } from "../../http/http-error.ts";
import type { S3Settings } from "./s3-settings.ts";

/** A request to a bucket. */
export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The name of an object below the prefix; absent: the bucket itself. */
  readonly object?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Statuses that are answers besides 2xx. */
  readonly accepts?: readonly number[];
  readonly signal?: AbortSignal;
}

/** The answer to a request, its text as far as it matters. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const MAX_TEXT = 4 * 1024 * 1024;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 200;
const LINK_SECONDS = 300;

/**
 * Sends signed requests (AWS signature version 4, bodies included) and repeats what may pass: a lost connection, a time that is
 * over, 429 and 5xx. Redirects are not followed.
 */
export class S3Bucket {
  readonly #settings: S3Settings;
  readonly #timeoutMs: number;

  /** @param timeoutMs for one attempt; a body that is given on unread may take longer */
  constructor(settings: S3Settings, timeoutMs: number) {
    this.#settings = settings;
    this.#timeoutMs = timeoutMs;
  }

  /** Gives the whole answer. @throws {HttpError} 503 with the store's reason */
  async send(request: S3Request): Promise<S3Answer> {
    return await this.#repeat(request, async (reply) => ({
      status: reply.status,
      headers: reply.headers,
      text: (await reply.text()).slice(0, MAX_TEXT),
    }));
  }

  /** Gives the answer to a request with its body unread. @throws {HttpError} 503 with the store's reason */
  async open(request: S3Request): Promise<Response> {
    return await this.#repeat(request, (reply) => Promise.resolve(reply));
  }

  async #repeat<T>(request: S3Request, take: (reply: Response) => Promise<T>): Promise<T> {
    let problem = "";
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (attempt > 1) await delay(FIRST_PAUSE_MS * 2 ** (attempt - 2), undefined, { signal: request.signal });
      try {
        const { answer, refusal } = await this.#attempt(request, take);
        if (refusal === undefined) return answer as T;
        problem = refusal;
        if (!/^(?:408|429|5)/u.test(refusal)) break;
      } catch (error) {
        request.signal?.throwIfAborted();
        problem = reasonOf(error);
      }
    }
    throw failure(problem);
  }

  /** A URL that gives an object to everybody for five minutes. */
  async link(object: string, headers: Readonly<Record<string, string>>): Promise<string> {
    const url = new URL(this.#urlOf({ method: "GET", object }));
    url.searchParams.set("X-Amz-Expires", String(LINK_SECONDS));
    for (const [name, value] of Object.entries(headers)) url.searchParams.set(`response-${name}`, value);
    const { url: signed } = await this.#signer(url.href, { method: "GET", signQuery: true }).sign();
    return signed.href;
  }

  async #attempt<T>(
    request: S3Request,
    take: (reply: Response) => Promise<T>,
  ): Promise<{ readonly answer?: T; readonly refusal?: string }> {
    const { method, body, headers = {}, signal } = request;
    const digest = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const own = { ...headers, "x-amz-content-sha256": digest };
    const signed = await this.#signer(this.#urlOf(request), { method, headers: own, body }).sign();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error("it does not answer in time")), this.#timeoutMs);
    try {
      const reply = await fetch(signed.url, {
        method,
        headers: signed.headers,
        body: body === undefined ? null : new Uint8Array(body),
        redirect: "manual",
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
      });
      if (reply.ok || request.accepts?.includes(reply.status) === true) return { answer: await take(reply) };
      return { refusal: `${reply.status} ${codeOf((await reply.text()).slice(0, MAX_TEXT))}`.trim() };
    } finally {
      clearTimeout(timer);
    }
  }

  #signer(url: string, options: Partial<ConstructorParameters<typeof AwsV4Signer>[0]>): AwsV4Signer {
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.#settings;
    const credentials = { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
    return new AwsV4Signer({ ...options, ...credentials, url, region, service: "s3" });
  }

  #urlOf({ object, query = {} }: S3Request): string {
    const { base, bucket } = this.#settings;
    const url = new URL(object === undefined ? `${bucket}/` : `${base}/${object}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url.href;
  }
}

/** The error for a store that did not do what it was asked. */
export function failure(problem: string): HttpError {
  return unavailable(`503 Service Unavailable: the store of artifacts: ${problem}`, 5);
}

function codeOf(text: string): string {
  return /<Code>([\w.]{1,100})<\/Code>/u.exec(text)?.[1] ?? "";
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { readonly message?: string; readonly cause?: { readonly code?: string } };
  return cause?.code ?? message ?? "no connection";
}
