import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { failure } from "./kubernetes-server-objects.ts";

/** An object of the cluster; only what is looked at has a type. */
export interface ClusterObject {
  readonly apiVersion: "v1";
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
  };
  readonly [field: string]: unknown;
}

/** A request for objects, with its body. */
export interface ObjectRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

const PATH = /^\/api\/v1\/namespaces\/([^/]+)\/(pods|secrets)(?:\/([^/]+))?$/u;
const KINDS: Readonly<Record<string, string>> = { pods: "Pod", secrets: "Secret" };
const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/u;
const LABEL = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/u;

interface Watcher {
  readonly resource: string;
  readonly matches: (object: ClusterObject) => boolean;
  readonly tell: (type: string, object: ClusterObject) => void;
}

/** The pods and secrets of a test double: made, read, changed, watched and removed as the API server has it. */
export class ClusterObjects {
  readonly #objects = new Map<string, ClusterObject>();
  readonly #watchers = new Set<Watcher>();
  #version = 100;
  /** Told of a pod that was made, and of one that is to go. */
  onPod: (pod: ClusterObject) => void = () => undefined;
  onRemoval: (pod: ClusterObject) => void = (pod) => this.forget("pods", pod);

  /** The objects of a kind. */
  list(resource: "pods" | "secrets"): readonly ClusterObject[] {
    return [...this.#objects].flatMap(([key, object]) => (key.startsWith(`${resource}/`) ? [object] : []));
  }

  find(resource: "pods" | "secrets", namespace: string, name: string): ClusterObject | undefined {
    return this.#objects.get(`${resource}/${namespace}/${name}`);
  }

  /** Changes fields of an object, and tells who watches. What is not there any more stays away. */
  change(resource: "pods" | "secrets", { metadata }: ClusterObject, change: Readonly<Record<string, unknown>>): void {
    const known = this.find(resource, metadata.namespace, metadata.name);
    if (known?.metadata.uid === metadata.uid) this.#put(resource, "MODIFIED", { ...known, ...change });
  }

  /** Removes an object, and what it owns. */
  forget(resource: "pods" | "secrets", object: ClusterObject): void {
    const { namespace, name, uid } = object.metadata;
    if (!this.#objects.delete(`${resource}/${namespace}/${name}`)) return;
    this.#tell(resource, "DELETED", object);
    for (const secret of this.list("secrets"))
      if (secret.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true) this.forget("secrets", secret);
  }

  /** Answers a request, if it is one for objects. */
  answer(request: ObjectRequest, response: ServerResponse): boolean {
    const [, namespace = "", resource = "", name] = PATH.exec(request.path) ?? [];
    if (resource !== "pods" && resource !== "secrets") return false;
    if (request.method === "GET" && request.query.get("watch") === "true") this.#watch(resource, request, response);
    else {
      const { status, body } = this.#answer(resource, namespace, name, request);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }
    return true;
  }

  #answer(
    resource: "pods" | "secrets",
    namespace: string,
    name: string | undefined,
    request: ObjectRequest,
  ): { status: number; body: object } {
    if (name === undefined && request.method === "POST") return this.#create(resource, namespace, request.body);
    if (name === undefined) {
      const matches = selectorOf(request.query.get("labelSelector") ?? "");
      return { status: 200, body: { kind: "List", apiVersion: "v1", items: this.list(resource).filter(matches) } };
    }
    const object = this.find(resource, namespace, name);
    if (object === undefined) return failure(404, "NotFound", `${resource} ${JSON.stringify(name)} not found`);
    if (request.method === "GET") return { status: 200, body: object };
    if (request.method === "DELETE") return this.#remove(resource, object);
    if (request.method !== "PATCH") return failure(405, "MethodNotAllowed", "the server does not allow this method");
    const { metadata = {}, ...rest } = JSON.parse(request.body.toString()) as { metadata?: object };
    this.#put(resource, "MODIFIED", { ...object, ...rest, metadata: { ...object.metadata, ...metadata } });
    return { status: 200, body: this.find(resource, namespace, name) ?? {} };
  }

  #create(resource: "pods" | "secrets", namespace: string, body: Buffer): { status: number; body: object } {
    const given = JSON.parse(body.toString()) as ClusterObject;
    const { name, labels = {} } = given.metadata;
    const invalid = (text: string): { status: number; body: object } => failure(422, "Invalid", text);
    if (given.kind !== KINDS[resource] || given.apiVersion !== "v1") return invalid("kind and apiVersion");
    if (!NAME.test(name)) return invalid(`metadata.name: ${name}`);
    for (const [label, value] of Object.entries(labels))
      if (!LABEL.test(value)) return invalid(`metadata.labels.${label}: ${value}`);
    if (this.find(resource, namespace, name) !== undefined)
      return failure(409, "AlreadyExists", `${resource} ${JSON.stringify(name)} already exists`);
    const metadata = { ...given.metadata, namespace, uid: randomUUID() };
    const status = resource === "pods" ? { status: { phase: "Pending" } } : {};
    this.#put(resource, "ADDED", { ...given, ...status, metadata });
    const made = this.find(resource, namespace, name) as ClusterObject;
    if (resource === "pods") this.onPod(made);
    return { status: 201, body: made };
  }

  #remove(resource: "pods" | "secrets", object: ClusterObject): { status: number; body: object } {
    if (resource === "secrets") this.forget(resource, object);
    else if (object.metadata.deletionTimestamp === undefined) {
      const metadata = { ...object.metadata, deletionTimestamp: new Date().toISOString() };
      this.#put("pods", "MODIFIED", { ...object, metadata });
      this.onRemoval(object);
    }
    return { status: 200, body: object };
  }

  #put(resource: "pods" | "secrets", type: string, object: ClusterObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    const { namespace, name } = metadata;
    this.#objects.set(`${resource}/${namespace}/${name}`, { ...object, metadata });
    this.#tell(resource, type, { ...object, metadata });
  }

  #tell(resource: string, type: string, object: ClusterObject): void {
    for (const watcher of this.#watchers)
      if (watcher.resource === resource && watcher.matches(object)) watcher.tell(type, object);
  }

  #watch(resource: "pods" | "secrets", { query }: ObjectRequest, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    const [, name] = /^metadata\.name=(.+)$/u.exec(query.get("fieldSelector") ?? "") ?? [];
    const since = Number(query.get("resourceVersion") ?? 0);
    const matches = (object: ClusterObject): boolean => name === undefined || object.metadata.name === name;
    const tell: Watcher["tell"] = (type, object) => void response.write(`${JSON.stringify({ type, object })}\n`);
    for (const object of this.list(resource))
      if (matches(object) && Number(object.metadata.resourceVersion) > since) tell("MODIFIED", object);
    const watcher = { resource, matches, tell };
    this.#watchers.add(watcher);
    response.on("close", () => this.#watchers.delete(watcher));
  }
}

function selectorOf(text: string): (object: ClusterObject) => boolean {
  const wanted = text
    .split(",")
    .filter((part) => part !== "")
    .map((part) => part.split("="));
  return ({ metadata }) => wanted.every(([name = "", value]) => metadata.labels?.[name] === value);
}
