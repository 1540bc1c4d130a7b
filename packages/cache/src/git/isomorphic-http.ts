import type { GitHttpRequest, GitHttpResponse, HttpClient } from "isomorphic-git";
import type { FetchProgress } from "../component.ts";
import { readBody, type Remote, request } from "@steps/transfer";

/** isomorphic-git's HTTP client, on our own: credentials for one origin, limits, redirects of the first question. */
export interface IsomorphicHttp extends HttpClient {
  /** Returns the number of bytes received so far. */
  readonly bytes: () => number;
  /** Rejects with the first failure of a body: isomorphic-git may wait for ever for the rest of it. */
  readonly failure: Promise<never>;
  /** The origin whose answer was 401, if one's was. */
  readonly refusedBy: () => string | undefined;
}

export function createIsomorphicHttp(
  remote: Remote,
  options: {
    readonly maxBytes: number;
    readonly signal?: AbortSignal | undefined;
    readonly onProgress?: ((progress: FetchProgress) => void) | undefined;
  },
): IsomorphicHttp {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  // It is raced against only while a transfer runs.
  failure.catch(() => undefined);
  let bytes = 0;
  let base = remote.url;
  let refusedBy: string | undefined;

  async function* body(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        bytes += chunk.byteLength;
        options.onProgress?.({ phase: "fetch", bytes });
        yield chunk;
      }
    } catch (error) {
      reject(error);
      throw error;
    }
  }

  return {
    bytes: () => bytes,
    failure,
    refusedBy: () => refusedBy,
    async request({ url, method = "GET", headers = {}, body: sent }: GitHttpRequest): Promise<GitHttpResponse> {
      const path = url.slice(remote.url.length);
      const content = sent === undefined ? undefined : await collect(sent);
      const answer = await request(remote, {
        url: `${base}${path}`,
        method: method === "POST" ? "POST" : "GET",
        headers,
        signal: options.signal,
        body: content,
      });
      // A repository that moved answers the first question elsewhere; the next ones go there at once.
      if (method === "GET" && answer.url.endsWith(path)) base = answer.url.slice(0, -path.length);
      const { status, statusText } = answer.response;
      if (status === 401) refusedBy = new URL(answer.url).origin;
      return {
        url: answer.url,
        method,
        statusCode: status,
        statusMessage: statusText,
        headers: Object.fromEntries(answer.response.headers),
        body: body(readBody(answer, { maxBytes: Math.max(0, options.maxBytes - bytes), signal: options.signal })),
      };
    },
  };
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return Buffer.concat(collected);
}
