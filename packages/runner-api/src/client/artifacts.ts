import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { isStepsError } from "@steps/model";
import { type ArtifactOptions, formatArtifactQuery } from "../artifacts.ts";
import { HEADERS, MESSAGE_LIMITS, PATHS } from "../names.ts";
import { type Answer, type Caller, messageIn } from "./call.ts";
import { RunnerClientError } from "./client-error.ts";
import { type HttpCall, type HttpReply, nameOf, readReply } from "./http.ts";
import { DEFAULT_RETRIES, waitToRetry } from "./retry.ts";

/** The calls about files that a job leaves. */
export interface ArtifactCalls {
  /**
   * Uploads a file in chunks: 201; 413 if it is too large; 401 or 403. A 503 is tried up to six times, other failures
   * three times, and a 307 leads to the host where the same path takes it. A server that cannot be reached is tried for
   * two minutes, since it may just be started anew.
   */
  uploadArtifact(id: number, upload: ArtifactUpload): Promise<Answer>;
  /**
   * Gets the archive of a job, 200 with its bytes, which the caller has to read to their end or destroy. Redirects are
   * followed, without the token when they lead to another host. A server that cannot be reached is tried as for an upload.
   */
  downloadArtifact(id: number, download: ArtifactDownload): Promise<Answer & { readonly bytes: Readable | undefined }>;
}

/** A file to upload. */
export interface ArtifactUpload extends ArtifactOptions {
  readonly token: string;
  /** With the ending of its format: `artifacts.zip`. */
  readonly fileName: string;
  /** Opens the bytes, anew for each attempt. */
  open(): Readable;
  readonly signal?: AbortSignal | undefined;
}

/** An archive to download. */
export interface ArtifactDownload {
  /** The token of the job that made the artifacts. */
  readonly token: string;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 600_000;
const MAX_REDIRECTS = 5;

/** The calls about artifacts of one server. */
export function artifactCalls(caller: Caller): ArtifactCalls {
  return {
    uploadArtifact: (id, upload) => uploadUntilTaken(caller, id, upload),
    downloadArtifact: (id, download) => downloadFrom(caller, id, download),
  };
}

async function uploadUntilTaken(caller: Caller, id: number, upload: ArtifactUpload): Promise<Answer> {
  let base = caller.base;
  for (let attempt = 0; ; attempt += 1) {
    const url = `${base}${PATHS.artifacts(id)}?${formatArtifactQuery(optionsOf(upload))}`;
    const { reply, http } = await reach(caller, () => uploadCall(url, caller, upload));
    const answer = await answerOf(reply, http);
    const attempts = answer.status === 503 ? 6 : 3;
    const isFinal = answer.status < 300 || [400, 401, 403, 405, 413].includes(answer.status);
    if (isFinal || attempt + 1 >= attempts) return answer;
    if (answer.status === 307) base = movedBase(base, reply, http);
    else await waitToRetry(reply.headers, attempt, { rules: DEFAULT_RETRIES, signal: upload.signal });
  }
}

const REACH_MS = 120_000;
const REACH_RULES = { ...DEFAULT_RETRIES, longestDelayMs: 10_000 };

/** Sends a call until somebody answers, each time made anew: what a job leaves must not be lost because its server is started anew. */
async function reach(
  { sender }: Caller,
  makeCall: () => HttpCall,
): Promise<{ readonly reply: HttpReply; readonly http: HttpCall }> {
  const begin = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const http = makeCall();
    try {
      return { reply: await sender.send(http), http };
    } catch (error) {
      const isLate = performance.now() - begin > REACH_MS;
      if (isLate || !isStepsError(error, "SERVER_UNREACHABLE")) throw error;
      await waitToRetry({}, attempt, { rules: REACH_RULES, signal: http.signal });
    }
  }
}

function optionsOf({ expire_in, artifact_format, artifact_type, accessibility }: ArtifactOptions): ArtifactOptions {
  return { expire_in, artifact_format, artifact_type, accessibility };
}

function uploadCall(url: string, caller: Caller, upload: ArtifactUpload): HttpCall {
  const { token, fileName, signal } = upload;
  const boundary = `steps-${randomBytes(16).toString("hex")}`;
  const name = fileName.replaceAll(/["\\\p{Cc}]/gu, "_");
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  async function* form(): AsyncGenerator<Buffer> {
    yield Buffer.from(head);
    yield* upload.open() as AsyncIterable<Buffer>;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return {
    method: "POST",
    url,
    headers: {
      ...caller.headers,
      [HEADERS.jobToken]: token,
      "content-type": `multipart/form-data; boundary=${boundary}`,
    },
    body: Readable.from(form()),
    signal,
    timeoutMs: TIMEOUT_MS,
  };
}

/** Only the host of the new address counts, as for gitlab-runner: the path stays that of the API. */
function movedBase(base: string, reply: HttpReply, http: HttpCall): string {
  const target = reply.headers.location ?? "";
  if (!URL.canParse(target, http.url)) {
    throw new RunnerClientError("ANSWER_INVALID", `${nameOf(http)}: the answer 307 leads nowhere`);
  }
  const { protocol, origin } = new URL(target, http.url);
  const isUnsafe = protocol !== "https:" && protocol !== new URL(http.url).protocol;
  if (isUnsafe)
    throw new RunnerClientError("ANSWER_INVALID", `${nameOf(http)}: the answer 307 leads to an unsafe scheme`);
  return origin + new URL(base).pathname;
}

async function downloadFrom(
  caller: Caller,
  id: number,
  { token, signal }: ArtifactDownload,
): Promise<Answer & { bytes: Readable | undefined }> {
  const first = `${caller.base}${PATHS.artifacts(id)}?direct_download=true`;
  let url = new URL(first);
  for (let attempt = 0, redirects = 0; ;) {
    const isOwn = url.origin === new URL(first).origin;
    const headers = { ...caller.headers, ...(isOwn && { [HEADERS.jobToken]: token }) };
    const target = { method: "GET", url: url.href, headers, signal, timeoutMs: TIMEOUT_MS };
    const { reply, http } = await reach(caller, () => target);
    if (reply.status === 200) {
      return { status: 200, headers: reply.headers, message: undefined, wasPutOff: attempt > 0, bytes: reply.body };
    }
    const answer = await answerOf(reply, http);
    const isRedirect = [301, 302, 303, 307, 308].includes(answer.status);
    if (isRedirect && redirects < MAX_REDIRECTS) {
      url = redirectOf(url, reply, http);
      redirects += 1;
    } else if ([401, 403, 404].includes(answer.status) || isRedirect || attempt >= 2) {
      return { ...answer, bytes: undefined };
    } else {
      await waitToRetry(reply.headers, attempt, { rules: DEFAULT_RETRIES, signal });
      attempt += 1;
    }
  }
}

function redirectOf(from: URL, reply: HttpReply, http: HttpCall): URL {
  const target = reply.headers.location ?? "";
  const url = URL.canParse(target, from.href) ? new URL(target, from) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== from.protocol)) {
    throw new RunnerClientError("ANSWER_INVALID", `${nameOf(http)}: it redirects to nowhere, or to an unsafe scheme`);
  }
  return url;
}

async function answerOf(reply: HttpReply, http: HttpCall): Promise<Answer> {
  const body = await readReply(reply, MESSAGE_LIMITS.update, http);
  return { status: reply.status, headers: reply.headers, message: messageIn(reply, body), wasPutOff: false };
}
