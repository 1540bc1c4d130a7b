import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import type { DialError } from "../dial-error.ts";
import { dialDocker, type DockerTarget } from "./docker.ts";

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const UPGRADED = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";

/** How a daemon behaves that cannot be had here: newer, older, ill, or no daemon at all. Undefined answers never come. */
interface Manners {
  readonly create?: (command: readonly string[]) => { status: number; body: string } | undefined;
  readonly start?: (command: readonly string[], socket: net.Socket) => void;
  readonly inspect?: () => string | undefined;
}

interface Daemon {
  readonly host: string;
  readonly commands: string[];
  readonly asked: string[];
  readonly connections: () => Promise<number>;
}

function frame(type: number, content: string | Uint8Array): Buffer {
  const header = Buffer.from([type, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(Buffer.byteLength(content), 4);
  return Buffer.concat([header, typeof content === "string" ? Buffer.from(content) : content]);
}

function error(status: number, message: string): { status: number; body: string } {
  return { status, body: JSON.stringify({ message }) };
}

async function startDaemon(manners: Manners): Promise<Daemon> {
  const commands: string[] = [];
  const asked: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    void answer(request, response);
  });
  async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString();
    if (request.method === "GET") {
      const body = manners.inspect?.();
      if (body !== undefined) response.end(body);
      return;
    }
    const command = (JSON.parse(text) as { Cmd: string[] }).Cmd;
    commands.push(command.join(" "));
    const result = manners.create === undefined ? { status: 201, body: '{"Id":"abc"}' } : manners.create(command);
    if (result !== undefined) response.writeHead(result.status).end(result.body);
  }
  server.on("upgrade", (request, socket) => {
    asked.push(`${request.method} ${request.url}`);
    socket.on("error", () => socket.destroy());
    manners.start?.((commands.at(-1) ?? "").split(" "), socket as net.Socket);
  });
  const path = join(tempDir(), "d.sock");
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const connections = async (): Promise<number> =>
    await new Promise((resolve, reject) => {
      server.getConnections((cause, count) => (cause === null ? resolve(count) : reject(cause)));
    });
  return { host: `unix://${path}`, commands, asked, connections };
}

function dialing(daemon: Daemon, target: Partial<DockerTarget> = {}): Promise<Duplex> {
  return dialDocker({ container: "c", host: daemon.host, ...target })(new AbortController().signal);
}

async function failure(dialed: Promise<Duplex>): Promise<DialError> {
  return await dialed.then(
    () => expect.unreachable("It has connected"),
    (reason: DialError) => reason,
  );
}

/** Keeps a connection that nobody answers, as long as the other side does. */
function hold(socket: net.Socket): void {
  socket.resume().on("end", () => socket.end());
}

function speak(socket: net.Socket, ...frames: Buffer[]): void {
  socket.write(Buffer.concat([Buffer.from(UPGRADED), ...frames]));
}

describe("dialDocker finds the proxy", () => {
  test("a newer daemon refuses what is missing; what worked is first the next time", async () => {
    const missing = 'OCI runtime exec failed: exec failed: unable to start container process: exec: "x": no such file';
    const daemon = await startDaemon({
      start: ([program], socket) => {
        if (program === "/step-runner") return speak(socket, frame(1, SETTINGS));
        const body = error(400, missing).body;
        socket.end(`HTTP/1.1 400 Bad Request\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      },
    });
    const dial = dialDocker({ container: "c", host: daemon.host });
    for (let turn = 0; turn < 2; turn += 1) (await dial(new AbortController().signal)).destroy();
    expect(daemon.commands).toEqual(["step-runner proxy", "/step-runner proxy", "/step-runner proxy"]);
  });

  test("an older daemon says so on stdout, and with the exit status", async () => {
    const daemon = await startDaemon({
      start: (_command, socket) => {
        speak(socket, frame(1, "OCI runtime exec failed: exec failed: no such file or directory: unknown\r\n"));
        socket.end();
      },
      inspect: () => '{"Running":false,"ExitCode":126}',
    });
    const reason = await failure(dialing(daemon));
    expect(reason).toMatchObject({ code: "NO_SERVICE", isPermanent: true });
    expect(reason.message).toMatch(
      /^No step runner can be executed in container 'c':\n(.*OCI runtime exec failed.*(\n|$)){4}/,
    );
    expect(daemon.commands).toHaveLength(4);
    expect(daemon.commands[2]).toBe("/opt/gitlab-runner/gitlab-runner-helper steps proxy");
  });

  test("the exit status may be known only after a while, and comes with the stderr", async () => {
    let polls = 0;
    const daemon = await startDaemon({
      start: (_command, socket) => {
        speak(socket, frame(2, "no service at "), frame(2, "/tmp/x.sock\n  hint: Start one.\n"));
        socket.end();
      },
      inspect: () => (++polls < 4 ? '{"Running":true,"ExitCode":null}' : '{"Running":false,"ExitCode":1}'),
    });
    const reason = await failure(dialing(daemon, { commands: [["p"]] }));
    expect(reason.code).toBe("NO_SERVICE");
    expect(reason.message).toBe(
      "'p' in container 'c' ended with exit status 1 before a service answered: no service at /tmp/x.sock",
    );
    expect(await daemon.connections()).toBe(0);
  });

  test("frames that come with the answer, byte by byte, and stdin as it is", async () => {
    const sockets: net.Socket[] = [];
    const daemon = await startDaemon({
      start: (_command, socket) => {
        sockets.push(socket);
        for (const byte of Buffer.concat([Buffer.from(UPGRADED), frame(2, "noise"), frame(1, SETTINGS)])) {
          socket.write(Buffer.of(byte));
        }
      },
    });
    const stream = await dialing(daemon);
    const [socket] = sockets as [net.Socket];
    const received: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    stream.end("PRI * HTTP/2.0");
    await once(socket, "end");
    expect(Buffer.concat(received).toString()).toMatch(/PRI \* HTTP\/2\.0$/);
    socket.end(frame(1, "tail"));
    expect(Buffer.concat(await stream.toArray())).toEqual(Buffer.concat([SETTINGS, Buffer.from("tail")]));
  });
});

describe("dialDocker tells what the daemon says", () => {
  test.each([
    [error(404, "No such container: c"), "NOT_FOUND", "Container 'c' does not exist"],
    [error(409, "Container abc is not running"), "UNREACHABLE", "cannot be entered: Container abc is not running"],
    [error(409, "Container abc is paused, unpause first"), "UNREACHABLE", "is paused"],
    [error(403, "authorization denied by plugin"), "DENIED", "authorization denied by plugin"],
    [error(500, "disk is full"), "UNREACHABLE", "failed with status 500: disk is full"],
    [{ status: 400, body: "Client sent an HTTP request to an HTTPS server.\n" }, "ADDRESS_INVALID", "wants TLS"],
    [{ status: 404, body: "<h1>Not\u001B[2J here</h1>" }, "PROTOCOL", "status 404: <h1>Not here</h1>"],
    [{ status: 201, body: '{"Id":"../../x"}' }, "PROTOCOL", "gave no id"],
    [{ status: 201, body: "[" }, "PROTOCOL", "gave no id"],
    [{ status: 200, body: "x".repeat(2_000_000) }, "PROTOCOL", "too long"],
  ])("%j is %s", async (answer, code, words) => {
    const daemon = await startDaemon({ create: () => answer });
    const reason = await failure(dialing(daemon));
    expect(reason).toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect(daemon.commands).toHaveLength(1);
  });

  test("a proxy before the daemon that does not upgrade", async () => {
    const daemon = await startDaemon({
      start: (_command, socket) =>
        socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n"),
    });
    expect(await failure(dialing(daemon))).toMatchObject({ code: "PROTOCOL" });
  });

  test("frames that are none, or that end too early", async () => {
    const wrong = await startDaemon({ start: (_command, socket) => speak(socket, Buffer.from("login: ...")) });
    expect(await failure(dialing(wrong))).toMatchObject({ code: "PROTOCOL" });
    const short = await startDaemon({
      start: (_command, socket) => {
        speak(socket, frame(1, SETTINGS).subarray(0, 12));
        socket.end();
      },
    });
    expect(await failure(dialing(short))).toMatchObject({ code: "UNREACHABLE" });
  });

  test("something else than a daemon", async () => {
    const path = join(tempDir(), "x.sock");
    const server = net.createServer((socket) => socket.end("SSH-2.0-x\r\n"));
    server.listen(path);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const dial = dialDocker({ container: "c", host: `unix://${path}` });
    expect(await failure(dial(new AbortController().signal))).toMatchObject({ code: "PROTOCOL" });
  });

  test.each<DockerTarget>([{ container: "" }, { container: "c", commands: [] }, { container: "c", commands: [[]] }])(
    "what makes no sense: %j",
    async (target) => {
      const reason = await failure(dialDocker(target)(new AbortController().signal));
      expect(reason).toMatchObject({ code: "ADDRESS_INVALID", isPermanent: true });
    },
  );
});

describe("dialDocker does not wait for ever", () => {
  const silent: [string, Manners][] = [
    ["the creation", { create: () => undefined }],
    ["the start", { start: (_command, socket) => hold(socket) }],
    ["the exit status", { start: (_command, socket) => void socket.end(UPGRADED), inspect: () => undefined }],
  ];

  const firstByte: [string, Manners] = [
    "the first byte",
    {
      start: (_command, socket) => {
        speak(socket);
        hold(socket);
      },
    },
  ];

  test.each(silent)("for %s", async (_name, manners) => {
    const daemon = await startDaemon(manners);
    const reason = await failure(dialing(daemon, { timeoutMs: 200 }));
    expect(reason).toMatchObject({ code: "UNREACHABLE", isPermanent: false });
    expect(reason.message).toContain("did not answer within 0.2 s");
  });

  test.each([...silent, firstByte])("for %s when it is aborted", async (_name, manners) => {
    const daemon = await startDaemon(manners);
    const controller = new AbortController();
    const dialed = dialDocker({ container: "c", host: daemon.host })(controller.signal);
    const last =
      "inspect" in manners
        ? "GET /exec/abc/json"
        : "start" in manners
          ? "POST /exec/abc/start"
          : "POST /containers/c/exec";
    await expect.poll(() => daemon.asked).toContain(last);
    controller.abort(new Error("enough"));
    await expect(dialed).rejects.toThrow("enough");
    await expect.poll(daemon.connections).toBe(0);
  });

  test("and not at all when it is aborted before", async () => {
    const dial = dialDocker({ container: "c", host: "unix:///no/such" });
    await expect(dial(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  });
});
