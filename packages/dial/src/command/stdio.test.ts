import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import { isRunning, tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DialError } from "../dial-error.ts";
import { type CommandTarget, dialCommand } from "./stdio.ts";

const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
const HELLO = String.raw`printf '\000\000\000\004\000\000\000\000\000'; `;

/** An HTTP/2 server on stdio: echoes, or gives a 64 MiB answer at /big. */
const SERVER = `
const http2 = require("node:http2"), net = require("node:net"), path = process.argv[1];
const server = http2.createServer((request, response) => {
  if (request.url !== "/big") return request.pipe(response);
  let left = 1024; const chunk = Buffer.alloc(65536, "z");
  const more = () => { while (left-- > 0) if (!response.write(chunk)) return response.once("drain", more); response.end(); };
  more();
});
server.listen(path, () => {
  const socket = net.connect(path);
  process.stdin.pipe(socket).pipe(process.stdout);
  socket.on("close", () => process.exit());
});`;

function shell(script: string, options: Partial<CommandTarget> = {}): Promise<Duplex> {
  return dialCommand({ command: "sh", args: ["-c", script], ...options })(new AbortController().signal);
}

async function failure(dialed: Promise<Duplex>): Promise<DialError> {
  return await dialed.then(
    () => expect.unreachable("It has connected"),
    (error: DialError) => error,
  );
}

async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid)).toBe(false);
}

/** The number that a script prints on a line of its own after the greeting. */
async function readPid(stream: Duplex): Promise<number> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString("latin1");
    if (text.includes("\n")) break;
  }
  return Number(text.slice(SETTINGS.length, text.indexOf("\n")));
}

describe("dialCommand", () => {
  test("carries 2000 calls and a long answer of node:http2", async () => {
    const path = join(tempDir(), "s");
    const dial = dialCommand({ command: process.execPath, args: ["-e", SERVER, path] });
    const stream = await dial(new AbortController().signal);
    const session = http2.connect("http://localhost", { createConnection: () => stream });
    for (let call = 0; call < 2000; call += 1) {
      const request = session.request({ ":method": "POST" });
      request.end(`call ${call}`);
      request.setEncoding("utf8");
      expect((await request.toArray()).join("")).toBe(`call ${call}`);
    }
    let bytes = 0;
    for await (const chunk of session.request({ ":path": "/big" })) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(64 * 1024 * 1024);
    session.destroy();
    await once(stream, "close");
  });

  test("the stream is a socket, its bytes are exact, and ending it ends the child's stdin", async () => {
    const stream = await shell(`${HELLO} exec cat`);
    expect(stream).toBeInstanceOf(net.Socket);
    const body = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) % 251));
    stream.end(body);
    expect(Buffer.concat(await stream.toArray()).equals(Buffer.concat([SETTINGS, body]))).toBe(true);
  });

  test("uses the folder and the whole environment that it is given", async () => {
    const cwd = tempDir();
    const env = { PATH: process.env["PATH"], ONE: "1" };
    const stream = await shell(
      `${HELLO} pwd; env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | cut -d= -f1 | sort`,
      {
        cwd,
        env,
      },
    );
    const text = Buffer.concat(await stream.toArray())
      .subarray(SETTINGS.length)
      .toString();
    expect(text).toBe(`${cwd}\nONE\nPATH\n`);
  });

  test("does not read ahead of a slow reader, nor write ahead of a child that does not read", async () => {
    const stream = await shell(`${HELLO} echo $$; exec cat /dev/zero`);
    const pid = await readPid(stream);
    const written = (): string | undefined => /^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "latin1"))?.[1];
    let last = written();
    await vi.waitFor(() => {
      const before = last;
      last = written();
      expect(last).toBe(before);
    }, 10_000);
    expect(Number(last)).toBeLessThan(8 * 1024 * 1024);
    stream.destroy();
    await untilGone(pid);

    const deaf = await shell(`${HELLO} exec sleep 60`);
    let accepted = 0;
    while (deaf.write(Buffer.alloc(65_536))) accepted += 1;
    expect(accepted).toBeLessThan(100);
    expect(deaf.writableNeedDrain).toBe(true);
    deaf.destroy();
  });
});

describe("dialCommand leaves nothing behind", () => {
  test("destroying ends the whole process group", async () => {
    const stream = await shell(`${HELLO} sleep 60 & echo $!; exec sleep 60`);
    const pid = await readPid(stream);
    expect(isRunning(pid)).toBe(true);
    stream.destroy();
    await untilGone(pid);
  });

  test("nothing keeps a program running that has destroyed its stream", async () => {
    const index = JSON.stringify(new URL("../index.ts", import.meta.url).href);
    const script = `const { dialCommand } = await import(${index});
      const dial = dialCommand({ command: "sh", args: ["-c", process.argv[1]] });
      (await dial(new AbortController().signal)).destroy();
      console.log("done");`;
    const args = ["--conditions=steps-source", "--input-type=module", "-e", script, `${HELLO} exec cat`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe("done\n");
  });

  test("who ignores TERM is killed", async () => {
    const stream = await shell(`trap '' TERM; ${HELLO} echo $$; while :; do sleep 1; done`);
    const pid = await readPid(stream);
    stream.destroy();
    await untilGone(pid);
  });

  test("what a child that ended left in its group goes with the stream", async () => {
    const stream = await shell(`${HELLO} (trap '' HUP; exec sleep 60 >/dev/null </dev/null 2>&1) & echo $!; sleep 0.1`);
    const pid = await readPid(stream);
    await Promise.all([once(stream, "close"), stream.resume()]);
    await untilGone(pid);
  });

  test("a cut by kill -9 closes the stream", async () => {
    const stream = await shell(`${HELLO} echo $$; exec cat`);
    process.kill(await readPid(stream), "SIGKILL");
    stream.resume();
    await once(stream, "close");
  });

  test("an aborted dial ends the child and keeps the signal's reason", async () => {
    const file = join(tempDir(), "pid");
    const controller = new AbortController();
    const dial = dialCommand({ command: "sh", args: ["-c", `echo $$ > ${file}; exec sleep 60`] });
    const dialed = dial(controller.signal);
    await expect.poll(() => existsSync(file) && readFileSync(file, "utf8")).toMatch(/\d+\n/);
    controller.abort(new Error("stop"));
    await expect(dialed).rejects.toThrow("stop");
    await untilGone(Number(readFileSync(file, "utf8")));
    await expect(dial(AbortSignal.abort(new Error("before")))).rejects.toThrow("before");
  });

  test("no folder of the socket pair stays", async () => {
    const folder = tempDir();
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const stream = await shell(`${HELLO} exec cat`);
    await failure(dialCommand({ command: "no-such-program-here" })(new AbortController().signal));
    stream.destroy();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("dialCommand says why", () => {
  const none = new AbortController().signal;

  test("nothing can be started", async () => {
    const missing = await failure(dialCommand({ command: "no-such-program-here", args: ["proxy"] })(none));
    expect(missing).toMatchObject({ code: "NOT_FOUND", message: "There is no program 'no-such-program-here'" });
    const folder = await failure(dialCommand({ command: "sh", cwd: "/no/such" })(none));
    expect(folder).toMatchObject({ code: "NOT_FOUND", message: "There is no folder '/no/such'" });
    expect(await failure(dialCommand({ command: "/etc/passwd" })(none))).toMatchObject({ code: "DENIED" });
    expect(await failure(dialCommand({ command: "sh", args: ["a\0b"] })(none))).toMatchObject({
      code: "ADDRESS_INVALID",
    });
  });

  test("it ended: with its stderr, without what steers a terminal, head and tail of much", async () => {
    const early = await failure(shell(`printf 'no \\033[31mservice\\n' >&2; exit 3`));
    expect(early).toMatchObject({
      code: "NO_SERVICE",
      message: "Command 'sh' ended with exit status 3 before a service answered: no service",
    });
    const much = await failure(
      shell(`echo first >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; echo last >&2; exit 1`),
    );
    expect(much.message).toMatch(/answered: first\nx+\n… \d+ bytes left out …\nx+last$/);
    expect(much.message.length).toBeLessThan(9000);
    expect((await failure(shell("kill -9 $$"))).message).toContain("ended with signal SIGKILL");
    expect((await failure(shell("echo usage: x"))).message).toContain(
      "exit status 0 before a service answered: usage: x",
    );
  });

  test("it speaks something else, or closes its output and stays", async () => {
    const other = await failure(shell("echo login:; exec sleep 60"));
    expect(other).toMatchObject({
      code: "PROTOCOL",
      message: "Command 'sh' speaks something else than HTTP/2: login:",
    });
    const closed = await failure(shell("exec sleep 60 </dev/null >/dev/null"));
    expect(closed).toMatchObject({ code: "NO_SERVICE", message: "Command 'sh' closed its output without a word" });
  });
});
