import { existsSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { createCertificates, createGitRepository, startGitHttpServer } from "@steps/testkit";
import { hasRegistry, startRegistry } from "@steps/testkit/image-registry";

/** The names that pages use for servers of their reader's. */
const NAMES = ["git.example.com", "registry.example.com", "files.example.com"];
/** The user for whom everything below `/private/` is. */
const AUTHORIZATION = `Basic ${Buffer.from("you:s3cret-token").toString("base64")}`;

/** A port that nothing listens on: a page that names no server reaches none. */
const NOBODY = "http://127.0.0.1:9";

/** Servers of a reader's, and the environment in which programs find them. */
export interface ExampleHosts extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts the servers that a page names. A proxy leads to them over TLS, and to nothing else, so that no page asks the network for
 * anything. The git server makes a repository for a push to a new name, as GitLab does. The servers keep their data in the folder.
 */
export async function startExampleHosts(markdown: string, folder: string): Promise<ExampleHosts> {
  const names = NAMES.filter((name) => markdown.includes(name));
  if (names.length === 0) return { env: { HTTPS_PROXY: NOBODY }, [Symbol.asyncDispose]: () => Promise.resolve() };
  if (names.includes("registry.example.com") && !hasRegistry) throw new Error("docker-registry and skopeo are missing");
  const { ca, server } = await createCertificates(NAMES);
  const closing = new AsyncDisposableStack();
  const git = closing.use(await startGitHttpServer(folder));
  const registry = names.includes("registry.example.com")
    ? closing.use(await startRegistry({ dir: folder }))
    : undefined;
  const files = new Map<string, Buffer>();
  const front = createTlsServer(server, (incoming, response) => {
    const host = incoming.headers.host ?? "";
    const path = incoming.url ?? "/";
    if (/^(?:\/v2)?\/private\//.test(path) && incoming.headers.authorization !== AUTHORIZATION) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="example"' }).end();
    } else if (host === "files.example.com") void keepFile(files, incoming, response);
    else if (host === "registry.example.com" && registry !== undefined)
      passOn(incoming, response, `http://${registry.host}`);
    else void makeRepository(folder, path).then(() => passOn(incoming, response, git.url));
  });
  const proxy = createServer((_, response) => void response.writeHead(403).end());
  proxy.on("connect", ({ url = "" }, socket) => {
    const { port } = front.address() as AddressInfo;
    if (!names.includes(url.replace(/:443$/, ""))) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const inner = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    for (const end of [inner, socket]) end.on("error", () => [inner, socket].forEach((one) => one.destroy()));
    socket.pipe(inner).pipe(socket);
  });
  for (const one of [front, proxy]) {
    await new Promise<void>((listening) => one.listen(0, "127.0.0.1", listening));
    closing.defer(() => one.close().closeAllConnections());
  }
  const certificates = join(folder, "ca.pem");
  writeFileSync(certificates, ca.cert);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const trust = { NODE_EXTRA_CA_CERTS: certificates, GIT_SSL_CAINFO: certificates, CURL_CA_BUNDLE: certificates };
  return {
    env: { HTTPS_PROXY: url, NODE_USE_ENV_PROXY: "1", ...trust },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, base: string): void {
  const headers = { ...incoming.headers, "x-forwarded-proto": "https" };
  const outgoing = request(`${base}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
    answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
  });
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
}

async function keepFile(
  files: Map<string, Buffer>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = incoming.url ?? "/";
  if (incoming.method === "PUT") {
    files.set(path, await buffer(incoming));
    response.writeHead(201).end();
    return;
  }
  const file = files.get(path);
  response.writeHead(file === undefined ? 404 : 200).end(file);
}

async function makeRepository(folder: string, path: string): Promise<void> {
  const name = /^\/(.+?)(?:\.git)?\/info\/refs\?service=git-receive-pack$/.exec(path)?.[1];
  if (name === undefined || existsSync(join(folder, name))) return;
  const repository = await createGitRepository(join(folder, name));
  await repository.git(["config", "http.receivepack", "true"]);
  await repository.git(["config", "receive.denyCurrentBranch", "ignore"]);
}
