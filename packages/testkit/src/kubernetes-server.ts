import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { dockerName } from "./docker-node.ts";
import type { ClusterObjects } from "./kubernetes-cluster.ts";
import { startExec } from "./kubernetes-server-exec.ts";
import type { ExecFault, ExecSession } from "./kubernetes-server-exec.ts";
import { discovery, failure, podObject } from "./kubernetes-server-objects.ts";
import type { KubernetesPod } from "./kubernetes-server-objects.ts";

/** A request to the double; `user` is the common name of the client's certificate or the `Authorization` header. */
export interface KubernetesRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly user: string | undefined;
}

export interface KubernetesServerOptions {
  readonly pods: readonly KubernetesPod[];
  /** PEM texts. With `clientCa` a client certificate of that authority is one way to be let in. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string };
  /** `Authorization` headers that are let in ("Bearer abc"); all are when neither this nor `tls.clientCa` is given. */
  readonly authorizations?: readonly string[];
  /** Subprotocols of exec; both v5 and v4 when absent. */
  readonly protocols?: readonly string[];
  /** Answers a request with an error, or with nothing at all. */
  readonly onRequest?: (
    request: KubernetesRequest,
  ) => { status: number; message: string; reason?: string } | "hang" | undefined;
  /** Faults of the next exec, asked at each. */
  readonly onExec?: (count: number) => ExecFault | undefined;
  readonly missingProgram?: "exit-code" | "status";
  /** Pods and secrets that clients make, besides those that are given. */
  readonly objects?: ClusterObjects;
}

/** A stand-in for the API server of a cluster, as far as `kubectl exec` and `kubectl logs` need it. */
export interface KubernetesServer extends AsyncDisposable {
  /** `http(s)://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  /** In order; what a client opened is here before it gets its answer. */
  readonly sessions: readonly ExecSession[];
  readonly requests: readonly KubernetesRequest[];
  /** Replaces a pod of the same name and namespace, or adds one. */
  setPod(pod: KubernetesPod): void;
  /** Ends all connections and kills every process that was started. */
  close(): Promise<void>;
}

interface State {
  readonly options: KubernetesServerOptions;
  readonly pods: Map<string, KubernetesPod>;
  readonly sessions: ExecSession[];
  readonly requests: KubernetesRequest[];
  readonly kills: Array<() => void>;
}

/**
 * Starts the double on a free port of the loopback interface: `/api`, `/apis`, `/api/v1`, pods, their logs (followed too) and
 * the exec sub-resource over WebSocket (`v5.channel.k8s.io`, `v4.channel.k8s.io`). Exec starts the program on this machine; it
 * outlives its connection until its stdin's end makes it stop, or `close()` does, as in a cluster.
 */
export async function startKubernetesServer(options: KubernetesServerOptions): Promise<KubernetesServer> {
  const state: State = { options, pods: new Map(), sessions: [], requests: [], kills: [] };
  const setPod = (pod: KubernetesPod): void => void state.pods.set(`${pod.namespace ?? "default"}/${pod.name}`, pod);
  options.pods.forEach(setPod);
  const { tls } = options;
  const server: Server =
    tls === undefined
      ? createServer()
      : createTlsServer({
          cert: tls.cert,
          key: tls.key,
          ca: tls.clientCa,
          requestCert: tls.clientCa !== undefined,
          rejectUnauthorized: false,
        });
  const sockets = new Set<Duplex>();
  server.on("request", (request, response) => serve(request, response, state));
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    upgrade({ request, socket, head }, state);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const close = async (): Promise<void> => {
    for (const kill of state.kills) kill();
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    await Promise.all(state.sessions.map((session) => session.exited));
  };
  const { port } = server.address() as AddressInfo;
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  return { url, sessions: state.sessions, requests: state.requests, setPod, close, [Symbol.asyncDispose]: close };
}

type Answer = { readonly status: number; readonly body: object } | "hang";

/** Returns the refusal of a request, or undefined if it is to be carried out. */
function refusal(request: KubernetesRequest, options: KubernetesServerOptions): Answer | undefined {
  const needsAuth = options.authorizations !== undefined || options.tls?.clientCa !== undefined;
  if (needsAuth && request.user === undefined) return failure(401, "Unauthorized", "Unauthorized");
  const wish = options.onRequest?.(request);
  if (wish === undefined || wish === "hang") return wish;
  return failure(wish.status, wish.reason ?? "", wish.message);
}

function describe(request: IncomingMessage, options: KubernetesServerOptions): KubernetesRequest {
  const url = new URL(request.url ?? "/", "http://localhost");
  const socket = request.socket as Partial<TLSSocket>;
  const isKnown = socket.authorized === true && options.tls?.clientCa !== undefined;
  const { authorization } = request.headers;
  const isLetIn = authorization !== undefined && options.authorizations?.includes(authorization) === true;
  const commonName = isKnown ? String(socket.getPeerCertificate?.().subject.CN) : undefined;
  const user = commonName ?? (isLetIn ? authorization : undefined);
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    user,
  };
}

const OBJECT_PATH = /^\/api\/v1\/namespaces\/[^/]+\/(?:pods|secrets)(?:\/[^/]+)?$/u;
const POD_PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)(?:\/(log|exec))?$/u;

/** A pod that was given, or one that was made and runs by Docker. */
function findPod({ pods, options }: State, namespace: string, name: string): KubernetesPod | undefined {
  const given = pods.get(`${namespace}/${name}`);
  const made = given === undefined ? options.objects?.find("pods", namespace, name) : undefined;
  if (made === undefined) return given;
  const { containers } = made["spec"] as { containers: readonly { name: string }[] };
  return {
    namespace,
    name,
    containers: containers.map((container) => container.name),
    phase: (made["status"] as { phase: NonNullable<KubernetesPod["phase"]> }).phase,
    commandOf: (container, argv) => ["docker", "exec", "--interactive", dockerName(made, container), ...argv],
  };
}

function serve(request: IncomingMessage, response: ServerResponse, state: State): void {
  const seen = describe(request, state.options);
  state.requests.push(seen);
  const refused = refusal(seen, state.options);
  if (refused === "hang") return;
  if (refused !== undefined) return sendJson(response, refused.status, refused.body);
  const { objects } = state.options;
  if (objects !== undefined && OBJECT_PATH.test(seen.path)) {
    void buffer(request).then(
      (body) => objects.answer({ ...seen, body }, response),
      () => response.destroy(),
    );
    return;
  }
  const [, namespace = "", name = "", sub] = POD_PATH.exec(seen.path) ?? [];
  const pod = findPod(state, namespace, name);
  const object = discovery(seen.path);
  if (object !== undefined) return sendJson(response, 200, object);
  if (name === "")
    return sendFailure(response, failure(404, "NotFound", "the server could not find the requested resource"));
  if (pod === undefined)
    return sendFailure(response, failure(404, "NotFound", `pods ${JSON.stringify(name)} not found`));
  if (sub === undefined) return sendJson(response, 200, podObject(pod));
  if (sub === "log") return serveLog(response, { pod, follows: seen.query.get("follow") === "true" });
  sendFailure(response, failure(400, "BadRequest", "Upgrade request required"));
}

function serveLog(response: ServerResponse, { pod, follows }: { pod: KubernetesPod; follows: boolean }): void {
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  response.write(pod.log ?? "");
  const more = pod.followedLog;
  if (!follows || more === undefined) return void response.end();
  more.pipe(response);
}

function sendFailure(response: ServerResponse, answer: { status: number; body: object }): void {
  sendJson(response, answer.status, answer.body);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function upgrade(parts: { request: IncomingMessage; socket: Duplex; head: Buffer }, state: State): void {
  const { options } = state;
  const seen = describe(parts.request, options);
  state.requests.push(seen);
  parts.socket.on("error", () => parts.socket.destroy());
  const refused = refusal(seen, options) ?? execRefusal(seen, state);
  if (refused === "hang") return;
  if ("status" in refused) return refuse(parts.socket, refused);
  const fault = options.onExec?.(state.sessions.length) ?? {};
  const { session, kill } = startExec(parts, {
    ...refused,
    fault,
    missingProgram: options.missingProgram ?? "exit-code",
  });
  state.sessions.push(session);
  state.kills.push(kill);
}

type ExecPlan = Pick<Parameters<typeof startExec>[1], "session" | "protocol" | "env" | "command">;

function execRefusal(seen: KubernetesRequest, state: State): { status: number; body: object } | ExecPlan {
  const { options } = state;
  const [, namespace = "", name = "", sub] = POD_PATH.exec(seen.path) ?? [];
  const pod = findPod(state, namespace, name);
  if (sub !== "exec") return failure(404, "NotFound", "the server could not find the requested resource");
  if (pod === undefined) return failure(404, "NotFound", `pods ${JSON.stringify(name)} not found`);
  const containers = pod.containers ?? ["main"];
  const container = seen.query.get("container") ?? (containers.length === 1 ? containers[0] : undefined);
  if (container === undefined) {
    const text = `a container name must be specified for pod ${name}, choose one of: [${containers.join(" ")}]`;
    return failure(400, "BadRequest", text);
  }
  if (!containers.includes(container))
    return failure(400, "BadRequest", `container ${container} is not valid for pod ${name}`);
  if ((pod.phase ?? "Running") !== "Running") {
    return failure(
      500,
      "InternalError",
      `unable to upgrade connection: container not found (${JSON.stringify(container)})`,
    );
  }
  const offered = (seen.headers["sec-websocket-protocol"] ?? "").split(",").map((item) => item.trim());
  const accepted = options.protocols ?? ["v5.channel.k8s.io", "v4.channel.k8s.io"];
  const protocol = offered.find((item) => accepted.includes(item));
  if (protocol === undefined) return failure(400, "BadRequest", "no supported subprotocol was offered");
  const session = { namespace, pod: name, container, argv: seen.query.getAll("command"), query: seen.query };
  const command = pod.commandOf?.(container, session.argv);
  return { session, protocol, env: pod.env ?? process.env, command };
}

function refuse(socket: Duplex, { status, body }: { status: number; body: object }): void {
  const text = JSON.stringify(body);
  const head = `HTTP/1.1 ${status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  socket.end(`${head}Connection: close\r\n\r\n${text}`);
}
