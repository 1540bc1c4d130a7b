import { createInterface } from "node:readline";
import { isRecord } from "../access/kubeconfig.ts";
import type { KubernetesAccessSource } from "../access/kubernetes-access.ts";
import { type ApiAnswer, callApi, openAnswer, refusalOf } from "./call-api.ts";

/** The kinds of objects that are made and looked after. */
export type ObjectKind = "pods" | "secrets";

/** An object as the server gives it. */
export type KubernetesObject = Readonly<Record<string, unknown>>;

/** An object's kind and name. */
export interface ObjectName {
  readonly kind: ObjectKind;
  readonly name: string;
}

/**
 * The objects of one namespace. Every call needs the verb of its name for the kind, and rejects with a `KubernetesError`:
 * UNREACHABLE (nobody answers now, also 429 and 5xx), DENIED (401, 403, a quota), NOT_FOUND, ADDRESS_INVALID (what was sent is
 * not valid), or with the signal's reason.
 */
export interface KubernetesObjects {
  /** The namespace that counts: the one that was given, or that of the configuration. */
  namespace(signal: AbortSignal): Promise<string>;
  /** Makes an object; `undefined` when there is one of that name. */
  create(kind: ObjectKind, object: object, signal: AbortSignal): Promise<KubernetesObject | undefined>;
  /** The object; `undefined` when there is none. */
  get(object: ObjectName, signal: AbortSignal): Promise<KubernetesObject | undefined>;
  /** Changes fields of an object (merge patch). */
  patch(object: ObjectName, change: object, signal: AbortSignal): Promise<void>;
  /** Removes an object; one that is not there is removed. `graceSeconds`: how long its programs have to end. */
  remove(object: ObjectName, graceSeconds: number, signal: AbortSignal): Promise<void>;
  /** The objects with these labels. */
  list(kind: ObjectKind, labels: Readonly<Record<string, string>>, signal: AbortSignal): Promise<KubernetesObject[]>;
  /**
   * Waits for the next change of an object after the version that is known. Gives it, or `undefined` when nothing was told, for
   * whatever reason: then only `get` knows.
   */
  next(object: ObjectName, version: string, signal: AbortSignal): Promise<KubernetesObject | undefined>;
}

const WATCH_SECONDS = 60;

/** The objects of a namespace of a cluster. @param namespace by default that of the configuration */
export function kubernetesObjects(source: KubernetesAccessSource, namespace?: string): KubernetesObjects {
  const paths = (kind: ObjectKind, name?: string) => (own: string) =>
    `api/v1/namespaces/${encodeURIComponent(namespace ?? own)}/${kind}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
  return {
    async namespace(signal) {
      return namespace ?? (await source.resolve(signal)).namespace;
    },
    async create(kind, body, signal) {
      const answer = await callApi(source, { method: "POST", path: paths(kind), body, signal });
      if (answer.status === 409 && answer.body["reason"] === "AlreadyExists") return undefined;
      return succeeded(`to make an object of "${kind}"`, answer);
    },
    async get({ kind, name }, signal) {
      const answer = await callApi(source, { method: "GET", path: paths(kind, name), signal });
      return answer.status === 404 ? undefined : succeeded(`a look at "${kind}/${name}"`, answer);
    },
    async patch({ kind, name }, body, signal) {
      const answer = await callApi(source, { method: "PATCH", path: paths(kind, name), body, signal });
      succeeded(`a change of "${kind}/${name}"`, answer);
    },
    async remove({ kind, name }, graceSeconds, signal) {
      const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: graceSeconds };
      const answer = await callApi(source, { method: "DELETE", path: paths(kind, name), body, signal });
      if (answer.status !== 404) succeeded(`the removal of "${kind}/${name}"`, answer);
    },
    async list(kind, labels, signal) {
      const labelSelector = Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(",");
      const answer = await callApi(source, { method: "GET", path: paths(kind), query: { labelSelector }, signal });
      const { items } = succeeded(`a list of "${kind}"`, answer);
      return Array.isArray(items) ? (items as unknown[]).filter(isRecord) : [];
    },
    next: async (object, version, signal) => nextChange(source, paths(object.kind), { object, version, signal }),
  };
}

function succeeded(what: string, answer: ApiAnswer): KubernetesObject {
  if (answer.status < 200 || answer.status > 299) throw refusalOf(what, answer);
  return answer.body;
}

async function nextChange(
  source: KubernetesAccessSource,
  path: (namespace: string) => string,
  { object, version, signal }: { readonly object: ObjectName; readonly version: string; readonly signal: AbortSignal },
): Promise<KubernetesObject | undefined> {
  const query = {
    watch: "true",
    fieldSelector: `metadata.name=${object.name}`,
    resourceVersion: version,
    timeoutSeconds: String(WATCH_SECONDS),
  };
  // A connection that broke without a word must not be waited on.
  const stop = AbortSignal.any([signal, AbortSignal.timeout((WATCH_SECONDS + 15) * 1000)]);
  try {
    const access = await source.resolve(stop);
    const { status, response } = await openAnswer(access, { method: "GET", path, query, signal: stop });
    try {
      if (status !== 200) return undefined;
      for await (const line of createInterface({ input: response })) {
        const event: unknown = JSON.parse(line);
        if (!isRecord(event) || event["type"] === "BOOKMARK") continue;
        return event["type"] !== "ERROR" && event["type"] !== "DELETED" && isRecord(event["object"])
          ? event["object"]
          : undefined;
      }
      return undefined;
    } finally {
      response.destroy();
    }
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
