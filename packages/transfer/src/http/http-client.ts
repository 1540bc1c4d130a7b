import { isStepsError, messageOf, type StepsError } from "@steps/model";
import { TransferError, cancelled } from "../error.ts";
import type { Remote } from "./remote.ts";

/** A request of HTTP. The method is `GET` by default. */
export interface HttpRequest {
  readonly url: string;
  readonly method?: "GET" | "HEAD" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer> | Blob;
  readonly signal?: AbortSignal | undefined;
}

/** An answer, and the URL that gave it after redirects. */
export interface HttpAnswer {
  readonly url: string;
  readonly response: Response;
  /** The remote itself has answered, and no other origin has redirected on the way. */
  readonly isOfRemote: boolean;
}

const MAX_REDIRECTS = 5;

/**
 * Asks over HTTP. Redirects of a GET or HEAD are followed up to five times, to `http` and `https` only and never from `https`
 * down to `http`; credentials are sent to the origin of the remote and to no other, and to none after a redirect that left it.
 *
 * @throws {TransferError} TRANSPORT, CANCELLED
 */
export async function request(remote: Remote, options: HttpRequest): Promise<HttpAnswer> {
  const { signal, body, method = "GET" } = options;
  const trusted = new URL(remote.url).origin;
  let url = new URL(options.url);
  let isOfRemote = true;
  for (let redirects = 0; ; redirects += 1) {
    const headers = new Headers(options.headers);
    // Another server must not choose what is asked with the user's credentials.
    isOfRemote &&= url.origin === trusted;
    if (remote.authorization !== undefined && isOfRemote) {
      headers.set("authorization", remote.authorization);
    }
    const response = await send(url, {
      method,
      headers,
      redirect: "manual",
      body,
      signal,
    });
    const mayFollow = method === "GET" || method === "HEAD";
    const target = mayFollow && isRedirect(response.status) ? response.headers.get("location") : null;
    if (target === null) return { url: url.href, response, isOfRemote };
    await response.body?.cancel();
    url = follow(url, target, redirects);
  }
}

/** Reads an answer's body piece by piece. @throws {TransferError} ARCHIVE_TOO_LARGE, TRANSPORT, CANCELLED */
export async function* readBody(
  { url, response }: HttpAnswer,
  options: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  if (response.body === null) return;
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > options.maxBytes) {
        throw new TransferError(
          "ARCHIVE_TOO_LARGE",
          `Cannot fetch "${shown(url)}": it is larger than ${options.maxBytes} bytes`,
        );
      }
      yield chunk;
    }
  } catch (error) {
    if (isStepsError(error)) throw error;
    throw failure(url, error, options.signal);
  }
}

/** The error of a status that is not success, or `undefined`. */
export function statusError(url: string, status: number): TransferError | undefined {
  if (status >= 200 && status < 300) return undefined;
  const message = `Cannot fetch "${shown(url)}": the server answered ${status}`;
  if (status === 401 || status === 403) {
    return new TransferError("AUTH_FAILED", message, { hint: "Check the credentials, and that the URL is right." });
  }
  return new TransferError(status === 404 || status === 410 ? "REPOSITORY_NOT_FOUND" : "TRANSPORT", message);
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    throw failure(url.href, error, init.signal ?? undefined);
  }
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function follow(from: URL, target: string, redirects: number): URL {
  const refuse = (problem: string): TransferError =>
    new TransferError("TRANSPORT", `Cannot fetch "${shown(from.href)}": ${problem}`);
  if (redirects >= MAX_REDIRECTS) throw refuse("it redirects too often");
  if (!URL.canParse(target, from.href)) throw refuse("it redirects to nowhere");
  const url = new URL(target, from);
  if (url.protocol !== "https:" && url.protocol !== from.protocol) throw refuse("it redirects to an unsafe scheme");
  url.username = "";
  url.password = "";
  return url;
}

function failure(url: string, error: unknown, signal: AbortSignal | undefined): StepsError {
  if (signal?.aborted === true) return cancelled(signal);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return new TransferError("TRANSPORT", `Cannot fetch "${shown(url)}": ${messageOf(cause)}`, { cause: error });
}

/** A query may be a signature: what is shown ends before it. */
function shown(url: string): string {
  return url.replace(/[?#].*$/, "");
}
