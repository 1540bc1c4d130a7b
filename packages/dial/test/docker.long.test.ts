import { once } from "node:events";
import { readFile } from "node:fs/promises";
import http2 from "node:http2";
import net from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import { hasProgram } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { dialDocker, type DialError, type DockerTarget } from "../src/index.ts";
import { docker, execsIn, importBusybox, makeCertificates, startSleeper } from "./docker-container.ts";

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const HELLO = String.raw`printf '\000\000\000\004\000\000\000\000\000'; `;
const isPossible = ["docker", "busybox", "openssl"].every((name) => hasProgram(name));

let image = "";
let container = "";
const containers: string[] = [];

beforeAll(async () => {
  if (!isPossible) return;
  image = await importBusybox();
  container = await sleeper();
});

afterAll(async () => {
  if (containers.length > 0) await docker("rm", "--force", ...containers);
  if (image !== "") await docker("rmi", "--force", image);
});

async function sleeper(): Promise<string> {
  const name = await startSleeper(image);
  containers.push(name);
  return name;
}

function shell(script: string, target: Partial<DockerTarget> = {}): Promise<Duplex> {
  const dial = dialDocker({ container, commands: [["sh", "-c", HELLO + script]], ...target });
  return dial(new AbortController().signal);
}

async function failure(dialed: Promise<Duplex>): Promise<DialError> {
  return await dialed.then(
    () => expect.unreachable("It has connected"),
    (error: DialError) => error,
  );
}

async function listen(server: net.Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as net.AddressInfo).port;
}

describe.skipIf(!isPossible)("a stream through a real daemon", () => {
  test("is exact both ways at once, and ending it ends the command's stdin", async () => {
    const stream = await shell("exec cat");
    const body = Buffer.from(Array.from({ length: 20_000_000 }, (_, at) => (at * 31 + (at >> 9)) % 253));
    stream.end(body);
    const received = Buffer.concat(await stream.toArray());
    expect(received.subarray(0, SETTINGS.length)).toEqual(SETTINGS);
    expect(received.subarray(SETTINGS.length).equals(body)).toBe(true);
  });

  test("carries node:http2", async () => {
    const server = http2.createServer((request, response) => request.pipe(response));
    const port = await listen(server as unknown as net.Server);
    const dial = dialDocker({ container, commands: [["nc", "127.0.0.1", String(port)]] });
    const stream = await dial(new AbortController().signal);
    const session = http2.connect("http://localhost", { createConnection: () => stream });
    for (let call = 0; call < 100; call += 1) {
      const request = session.request({ ":method": "POST" });
      request.end(`call ${call}`);
      request.setEncoding("utf8");
      expect((await request.toArray()).join("")).toBe(`call ${call}`);
    }
    session.destroy();
    await expect.poll(() => execsIn(container)).toEqual([]);
  });

  test("that is cut at any moment leaves no process in the container", async () => {
    for (let cut = 0; cut < 20; cut += 1) {
      const stream = await shell("exec cat");
      const limit = Math.floor(Math.random() * 3_000_000);
      let received = 0;
      stream.on("data", (chunk: Buffer) => {
        received += chunk.length;
        if (received > limit) stream.destroy();
      });
      stream.on("error", () => undefined);
      stream.write(Buffer.alloc(4_000_000));
      if (limit % 5 === 0) stream.destroy();
      await once(stream, "close");
    }
    await expect.poll(() => execsIn(container)).toEqual([]);
  });

  test("lets the command wait for a slow reader, and the writer for a command that does not read", async () => {
    // Like a proxy it ends with its stdin; what is stuck in writing would not notice that we have gone.
    const stream = await shell(`sh -c 'echo $$; exec cat /dev/zero' & cat >/dev/null; kill $!`);
    await once(stream, "readable");
    let text = "";
    while (!text.includes("\n")) {
      text += ((stream.read(1) as Buffer | null) ?? "").toString("latin1");
      if (stream.readableLength === 0) await once(stream, "readable");
    }
    const pid = text.slice(SETTINGS.length).trim();
    const written = async (): Promise<number> =>
      Number(/^wchar: (\d+)/m.exec(await docker("exec", container, "cat", `/proc/${pid}/io`))?.[1]);
    let before = -1;
    await expect
      .poll(async () => {
        const now = await written();
        const isStill = now === before;
        before = now;
        return isStill;
      })
      .toBe(true);
    expect(before).toBeLessThan(4 * 1024 * 1024);
    stream.destroy();
    await expect.poll(() => execsIn(container)).toEqual([]);

    const deaf = await shell("exec sleep 8");
    let accepted = 0;
    while (deaf.write(Buffer.alloc(65_536))) accepted += 1;
    expect(accepted).toBeLessThan(100);
    deaf.destroy();
  });

  test("runs as the user that is named", async () => {
    const stream = await shell("id -u", { user: "1234" });
    expect(Buffer.concat(await stream.toArray()).toString("latin1")).toBe(`${SETTINGS.toString("latin1")}1234\n`);
  });
});

describe.skipIf(!isPossible)("a command that is not there", () => {
  test("is followed by the next, and what worked is remembered", async () => {
    const commands = [["no-such-program", "proxy"], ["/bin"], ["sh", "-c", `${HELLO} exec cat`]];
    const dial = dialDocker({ container, commands });
    for (let turn = 0; turn < 2; turn += 1) (await dial(new AbortController().signal)).destroy();
  });

  test("in any of the usual places", async () => {
    const error = await failure(dialDocker({ container })(new AbortController().signal));
    expect(error).toMatchObject({ code: "NO_SERVICE", hint: expect.stringContaining("PATH") as string });
    expect(error.message.split("\n")).toHaveLength(5);
    expect(error.message).toContain("'step-runner proxy': ");
    expect(error.message).toContain("executable file not found");
  });

  test("one that finds no service is not: its stderr says why", async () => {
    const commands = [
      ["sh", "-c", "echo 'no service here' >&2; exit 3"],
      ["sh", "-c", `${HELLO} exec cat`],
    ];
    const error = await failure(dialDocker({ container, commands })(new AbortController().signal));
    expect(error.code).toBe("NO_SERVICE");
    expect(error.message).toMatch(/ended with exit status 3 before a service answered: no service here$/);
  });
});

describe.skipIf(!isPossible)("a container", () => {
  test("that stops, pauses, comes back and goes", async () => {
    const name = await sleeper();
    const dial = dialDocker({ container: name, commands: [["sh", "-c", `${HELLO} exec cat`]] });
    const next = (): Promise<Duplex> => dial(new AbortController().signal);

    const stream = (await next()).resume();
    stream.on("error", () => undefined);
    await Promise.all([once(stream, "close"), docker("kill", name), once(stream, "end").then(() => stream.destroy())]);
    expect(await failure(next())).toMatchObject({
      code: "UNREACHABLE",
      isPermanent: false,
      message: expect.stringMatching(/cannot be entered: .*is not running/) as string,
    });

    await docker("start", name);
    (await next()).destroy();
    await docker("pause", name);
    expect(await failure(next())).toMatchObject({
      code: "UNREACHABLE",
      message: expect.stringContaining("paused") as string,
    });
    await docker("unpause", name);
    (await next()).destroy();

    await docker("rm", "--force", name);
    containers.splice(containers.indexOf(name), 1);
    expect(await failure(next())).toMatchObject({ code: "NOT_FOUND", isPermanent: true });
  });

  test("at a daemon that is not there", async () => {
    expect(await failure(shell("cat", { host: "unix:///no/such.sock" }))).toMatchObject({
      code: "UNREACHABLE",
      hint: "Is dockerd running there?",
    });
    expect(await failure(shell("cat", { host: "tcp://no-such-host.invalid" }))).toMatchObject({ code: "UNREACHABLE" });
  });
});

describe.skipIf(!isPossible)("a daemon behind TLS", () => {
  const toDaemon = (socket: Duplex): void => {
    const daemon = net.connect((process.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock").replace("unix://", ""));
    socket.pipe(daemon).pipe(socket);
    daemon.on("error", () => socket.destroy());
    socket.on("error", () => daemon.destroy()).on("close", () => daemon.destroy());
  };

  test("wants to know who we are, and is checked", async () => {
    const { folder, ca, server } = await makeCertificates();
    const demanding = tls.createServer({ ...server, ca, requestCert: true, allowHalfOpen: true }, toDaemon);
    const host = `tcp://127.0.0.1:${await listen(demanding)}`;

    const env = { DOCKER_HOST: host, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: folder };
    const stream = await shell("exec cat", { env });
    const body = Buffer.alloc(3_000_000, "tls");
    stream.end(body);
    expect(
      Buffer.concat(await stream.toArray())
        .subarray(SETTINGS.length)
        .equals(body),
    ).toBe(true);

    const cert = await readFile(join(folder, "cert.pem"));
    const key = await readFile(join(folder, "key.pem"));
    (await shell("exec cat", { host, tls: { ca, cert, key } })).destroy();
    expect(await failure(shell("cat", { host, tls: { ca } }))).toMatchObject({ code: "DENIED" });
    const stranger = await failure(shell("cat", { host, tls: { cert, key } }));
    expect(stranger).toMatchObject({ code: "DENIED", hint: expect.stringContaining("ca.pem") as string });
    const misnamed = await failure(shell("cat", { host, tls: { ca, cert, key, serverName: "other.example" } }));
    expect(misnamed).toMatchObject({ code: "DENIED" });
    await expect.poll(() => execsIn(container)).toEqual([]);
  });

  test("is not taken for one without, nor the other way round", async () => {
    const plain = `tcp://127.0.0.1:${await listen(net.createServer(toDaemon))}`;
    (await shell("exec cat", { host: plain, env: {} })).destroy();
    expect(await failure(shell("cat", { host: plain, tls: {} }))).toMatchObject({ code: "ADDRESS_INVALID" });
    const { server } = await makeCertificates();
    const secret = `tcp://127.0.0.1:${await listen(tls.createServer(server, toDaemon).on("tlsClientError", () => undefined))}`;
    expect(await failure(shell("cat", { host: secret, env: {} }))).toMatchObject({ code: "UNREACHABLE" });
  });
});
