import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isStepsError } from "@steps/model";
import { apiBase, HEADERS, MESSAGE_LIMITS } from "../names.ts";
import type { Message } from "../shape/message.ts";
import { RunnerClientError } from "./client-error.ts";
import {
  createHttpSender,
  type HttpCall,
  type HttpReply,
  type HttpSender,
  nameOf,
  readReply,
  type TlsFiles,
} from "./http.ts";
import { DEFAULT_RETRIES, isPutOff, type RetryRules, waitToRetry } from "./retry.ts";

/** The server to call and how. */
export interface RunnerApiOptions {
  /** As a user gives it, without `/api/v4`. It may have a path. */
  readonly url: string;
  /** `gitlab-runner 19.4.0 (…)` or any other name. */
  readonly userAgent: string;
  readonly tls?: TlsFiles | undefined;
  /** Default: 5 attempts, from 100 ms to a minute apart. */
  readonly retries?: RetryRules | undefined;
}

/** The parts that every answer has. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The text of an error, if the server gave one. */
  readonly message: string | undefined;
  /** The server put the call off at least once before. */
  readonly wasPutOff: boolean;
}

/** A request of the API. A body is JSON, unless `contentType` says otherwise. */
interface ApiCall {
  readonly method: string;
  /** Below `/api/v4`, with its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | undefined;
  readonly contentType?: string;
  /** Statuses whose body is a JSON message, which is an error to be without. */
  readonly expects?: readonly number[];
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The calls of one server. */
export interface Caller {
  readonly base: string;
  readonly sender: HttpSender;
  readonly headers: Readonly<Record<string, string>>;
  /** Calls until the server no longer puts it off; gives the answer and its body. @throws {RunnerClientError} */
  call(call: ApiCall): Promise<Answer & { readonly body: Buffer }>;
}

const TIMEOUT_MS = 60_000;

/** @throws {RunnerClientError} CLIENT_CONFIG */
export function createCaller(options: RunnerApiOptions): Caller {
  if (!/^https?:\/\//iu.test(options.url) || !URL.canParse(options.url)) {
    throw new RunnerClientError("CLIENT_CONFIG", "The URL of the server is no http or https URL");
  }
  const base = apiBase(options.url);
  const sender = createHttpSender(options.tls ?? {});
  const headers = { "user-agent": options.userAgent };
  const rules = options.retries ?? DEFAULT_RETRIES;
  return { base, sender, headers, call: (call) => callUntilAnswered(call, { base, sender, headers, rules }) };
}

interface CallContext {
  readonly base: string;
  readonly sender: HttpSender;
  readonly headers: Readonly<Record<string, string>>;
  readonly rules: RetryRules;
}

async function callUntilAnswered(call: ApiCall, context: CallContext): Promise<Answer & { body: Buffer }> {
  const http = toHttp(call, context);
  for (let attempt = 0; ; attempt += 1) {
    const reply = await context.sender.send(http);
    const body = await readReply(reply, MESSAGE_LIMITS.payload, http);
    if (!isPutOff(reply.status) || attempt + 1 >= context.rules.attempts) {
      if (call.expects?.includes(reply.status) === true && !isJson(reply)) {
        throw new RunnerClientError("ANSWER_INVALID", `${nameOf(http)}: the answer ${reply.status} is no JSON`);
      }
      const message = reply.status >= 400 ? messageIn(reply, body) : undefined;
      return {
        status: reply.status,
        headers: reply.headers,
        message,
        wasPutOff: attempt > 0 || isPutOff(reply.status),
        body,
      };
    }
    await waitToRetry(reply.headers, attempt, { rules: context.rules, signal: call.signal }).catch((error: unknown) => {
      throw new RunnerClientError("CANCELLED", `${nameOf(http)} was given up`, { cause: error });
    });
  }
}

function toHttp(call: ApiCall, context: CallContext): HttpCall {
  return {
    method: call.method,
    url: context.base + call.path,
    headers: {
      ...context.headers,
      [HEADERS.requestId]: randomBytes(16).toString("hex"),
      ...(call.expects !== undefined && { accept: "application/json" }),
      ...(call.body !== undefined && { "content-type": call.contentType ?? "application/json" }),
      ...call.headers,
    },
    body: call.body,
    signal: call.signal,
    timeoutMs: call.timeoutMs ?? TIMEOUT_MS,
  };
}

function isJson(reply: HttpReply): boolean {
  return /^application\/json\b/iu.test(reply.headers["content-type"] ?? "");
}

const MAX_MESSAGE = 500;

export function messageIn(reply: HttpReply, body: Buffer): string | undefined {
  if (!isJson(reply)) return undefined;
  try {
    const { message } = JSON.parse(body.toString()) as { message?: unknown };
    const text = typeof message === "string" ? message : JSON.stringify(message);
    // The text goes to terminals and logs.
    return text?.slice(0, MAX_MESSAGE).replaceAll(/\p{Cc}/gu, " ");
  } catch {
    return undefined;
  }
}

/** Reads a message of an answer; one that is none of the API is an error of the call. */
export function readAnswer<T>(message: Message<T>, body: Buffer, what: string): T {
  try {
    return message.read(body);
  } catch (error) {
    if (!isStepsError(error)) throw error;
    throw new RunnerClientError("ANSWER_INVALID", `${what}: ${error.message}`, { cause: error });
  }
}
