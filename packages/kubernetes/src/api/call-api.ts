import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { printable } from "@steps/model/bounded-text";
import { isRecord } from "../access/kubeconfig.ts";
import type { KubernetesAccess, KubernetesAccessSource } from "../access/kubernetes-access.ts";
import { explainConnection } from "../exec/explain-refusal.ts";
import { KubernetesError } from "../kubernetes-error.ts";

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/** A call to the API server. */
export interface ApiCall {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path behind the address of the server, made of the namespace that counts: `api/v1/namespaces/ci/pods`. */
  readonly path: (namespace: string) => string;
  readonly query?: Readonly<Record<string, string>>;
  /** An object that is sent as JSON; with PATCH as a merge patch. */
  readonly body?: object;
  readonly signal: AbortSignal;
}

/** The answer to a call; what is no JSON object is an empty one. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A call's answer while it arrives. */
export interface OpenAnswer {
  readonly status: number;
  readonly response: IncomingMessage;
}

/**
 * Calls the API server and reads the answer, whatever its status. Credentials of a plugin that are refused are asked for once
 * more. @throws {KubernetesError} UNREACHABLE, DENIED (TLS), ADDRESS_INVALID; rejects with the signal's reason
 */
export async function callApi(source: KubernetesAccessSource, call: ApiCall): Promise<ApiAnswer> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const first = await callOnce(source, { ...call, signal });
    if (first.answer.status !== 401 || !first.access.isFromPlugin) return first.answer;
    source.forget();
    return (await callOnce(source, { ...call, signal })).answer;
  } catch (cause) {
    call.signal.throwIfAborted();
    if (!signal.aborted) throw cause;
    throw new KubernetesError("UNREACHABLE", `The Kubernetes server does not answer within ${TIMEOUT_MS / 1000} s`, {
      cause,
    });
  }
}

async function callOnce(
  source: KubernetesAccessSource,
  call: ApiCall,
): Promise<{ readonly access: KubernetesAccess; readonly answer: ApiAnswer }> {
  const access = await source.resolve(call.signal);
  const { status, response } = await openAnswer(access, call);
  try {
    return { access, answer: { status, body: await readObject(response) } };
  } catch (cause) {
    call.signal.throwIfAborted();
    throw cause instanceof KubernetesError ? cause : explainConnection(cause, access.server);
  } finally {
    response.destroy();
  }
}

/** Sends a call; its answer is the caller's to read and to destroy. @throws {KubernetesError} UNREACHABLE, DENIED (TLS) */
export async function openAnswer(access: KubernetesAccess, call: ApiCall): Promise<OpenAnswer> {
  const url = new URL(access.server);
  url.pathname = `${url.pathname.replace(/\/$/u, "")}/${call.path(access.namespace)}`;
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
  const type = call.method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const headers = {
    ...access.headers,
    accept: "application/json",
    ...(body !== undefined && { "content-type": type, "content-length": String(body.length) }),
  };
  const request = send(url, { ...access.tls, agent: false, method: call.method, headers, signal: call.signal });
  try {
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    // A later error of the connection reaches whoever reads the answer.
    request.on("error", () => undefined);
    return { status: response.statusCode ?? 0, response };
  } catch (cause) {
    request.on("error", () => undefined);
    request.destroy();
    call.signal.throwIfAborted();
    throw explainConnection(cause, access.server);
  }
}

async function readObject(response: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BODY_BYTES)
      throw new KubernetesError("PROTOCOL", `The Kubernetes server answers with more than ${MAX_BODY_BYTES} bytes`);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The error that an answer stands for which is no success. */
export function refusalOf(what: string, { status, body }: ApiAnswer): KubernetesError {
  const { message } = body;
  const said = typeof message === "string" ? printable(message).slice(0, 1000) : `HTTP status ${status}`;
  const text = `Kubernetes refused ${what}: ${said}`;
  if (status === 401 || status === 403) return new KubernetesError("DENIED", text);
  if (status === 404) return new KubernetesError("NOT_FOUND", text);
  if (status === 429 || status === 408 || status >= 500) return new KubernetesError("UNREACHABLE", text);
  if (status === 400 || status === 409 || status === 413 || status === 422)
    return new KubernetesError("ADDRESS_INVALID", text);
  return new KubernetesError("PROTOCOL", `${text} (HTTP status ${status})`);
}
