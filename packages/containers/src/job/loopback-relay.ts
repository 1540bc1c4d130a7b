import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { coverInherited, signalGroup } from "@steps/platform/processes";
import { bindOption } from "../client/docker-command.ts";
import type { ContainerCli } from "../client/find-container-cli.ts";
import { ContainerError } from "../container-error.ts";

const READY_MS = 20_000;

// Runs in the container: what connects to a port of its loopback is connected to a socket that the runner listens on.
const PROGRAM = `const net = require("net");
const [dir, ...ports] = process.argv.slice(2);
let open = ports.length;
for (const port of ports) {
  net.createServer({ allowHalfOpen: true }, (near) => {
    const far = net.connect({ path: dir + "/" + port, allowHalfOpen: true });
    for (const socket of [near, far]) socket.on("error", () => { near.destroy(); far.destroy(); });
    near.pipe(far).pipe(near);
  }).listen(Number(port), "127.0.0.1", () => --open === 0 && console.log("ready"));
}
`;

/** Lets a job's container reach servers on the loopback of the runner, under the same address. */
export class LoopbackRelay {
  /** Short, since the path of a socket has to be; seen in the container under the same path. */
  readonly #dir: string;
  readonly #program: string;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #client: ChildProcess | undefined;

  /** @param socketDir not there yet; both are absolute and seen in the container under the same path */
  constructor(socketDir: string, dir: string) {
    this.#dir = socketDir;
    mkdirSync(socketDir, { mode: 0o700 });
    mkdirSync(dir, { recursive: true, mode: 0o755 });
    this.#program = join(dir, "relay.cjs");
    writeFileSync(this.#program, PROGRAM, { mode: 0o644 });
  }

  /** The option of the client that lets the container see the sockets. */
  get mount(): string {
    return bindOption(this.#dir, this.#dir);
  }

  /** Begins once the container is there. @throws {ContainerError} CONTAINER_FAILED */
  async open(
    container: { readonly cli: ContainerCli; readonly name: string; readonly nodeCommand: readonly string[] },
    ports: readonly number[],
  ): Promise<void> {
    for (const port of ports) await this.#listen(port);
    const { cli, name, nodeCommand } = container;
    const words = [...nodeCommand, this.#program, this.#dir, ...ports.map(String)];
    const client = spawn(cli.program, ["exec", name, ...words], {
      cwd: "/",
      env: process.env,
      stdio: ["ignore", "pipe", "ignore", ...coverInherited()],
      detached: true,
    });
    this.#client = client;
    const timer = setTimeout(() => this.#endClient(), READY_MS);
    const isReady = await saysSomething(client).catch(() => false);
    clearTimeout(timer);
    if (!isReady)
      throw new ContainerError("CONTAINER_FAILED", "the services of the runner cannot be reached from the container");
  }

  /** Never rejects. */
  close(): void {
    this.#endClient();
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #listen(port: number): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (near) => {
      const far = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("close", () => this.#sockets.delete(socket));
        socket.on("error", () => {
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far).pipe(near);
    });
    this.#servers.push(server);
    server.listen(join(this.#dir, String(port)));
    await once(server, "listening");
  }

  #endClient(): void {
    if (this.#client?.pid !== undefined && this.#client.exitCode === null) signalGroup(this.#client.pid, "SIGKILL");
  }
}

async function saysSomething(client: ChildProcess): Promise<boolean> {
  const { stdout } = client;
  const ended = once(client, "exit").then(() => false);
  if (stdout === null) return ended;
  return Promise.race([ended, once(stdout, "data").then(() => true)]);
}
