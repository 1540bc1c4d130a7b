import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code } from "@connectrpc/connect";
import { RunRequestSchema } from "@steps/proto/service";
import { tempDir } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Answer, callRaw, openSession } from "./harness.ts";

const HOST = fileURLToPath(new URL("service-host.ts", import.meta.url));
const MIB = 1024 * 1024;
const OURS = "/steps.v1.StepRunner/Run";
const THEIRS = "/proto.StepRunner/Run";
const LIST = "/steps.v1.StepRunner/List";

interface Host {
  readonly child: ChildProcess;
  readonly socket: string;
  /** The most memory that the process has had. */
  readonly peakMib: () => number;
}

async function startHost(): Promise<Host> {
  const dir = tempDir("steps-large-");
  const socket = join(dir, "s.sock");
  const child = spawn(
    process.execPath,
    ["--conditions=steps-source", "--disable-warning=ExperimentalWarning", HOST, socket, dir],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const peakMib = (): number =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
  return { child, socket, peakMib };
}

function repeated(field: string, bytes: number): Buffer {
  const one = Buffer.from(field, "hex");
  return Buffer.alloc(Math.floor(bytes / one.length) * one.length, one);
}

function delimited(no: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(no, WireType.LengthDelimited).bytes(bytes).finish();
}

async function list(socket: string): Promise<void> {
  expect((await callRaw(openSession(socket), LIST, new Uint8Array())).headers["grpc-status"]).toBe("0");
}

/** Calls one after another until the work is done: how many were answered meanwhile. */
async function answeredDuring(socket: string, work: Promise<unknown>): Promise<number> {
  const state = { isDone: false };
  let answered = 0;
  void work.finally(() => (state.isDone = true));
  const session = openSession(socket);
  while (!state.isDone) {
    await callRaw(session, LIST, new Uint8Array());
    if (!state.isDone) answered++;
  }
  await work;
  return answered;
}

describe.runIf(process.platform === "linux")("a service process", () => {
  test("refuses requests of very many fields before it decodes them, in bounded memory, and answers others", async () => {
    const { child, socket, peakMib } = await startHost();
    await list(socket);
    const before = peakMib();
    const attacks: [string, Uint8Array, Record<string, string>?][] = [
      [OURS, repeated("2a00", 24 * MIB)],
      [OURS, repeated("aa0600", 62 * MIB)],
      [OURS, repeated("7800", 16 * MIB)],
      [OURS, repeated("7b7c", 16 * MIB)],
      [OURS, repeated("7b", 16 * MIB)],
      [THEIRS, delimited(5, repeated("0a00", 16 * MIB))],
      [OURS, Buffer.from(`{"steps":[${"{},".repeat(8 * MIB)}{}]}`), { "content-type": "application/grpc+json" }],
      [OURS, Buffer.from(`{"inputs":{"a":${"[".repeat(MIB)}`), { "content-type": "application/grpc+json" }],
      [OURS, delimited(100, Buffer.from(`[${"{},".repeat(1.3 * MIB)}{}]`))],
    ];
    let answered = 0;
    for (const [path, message, headers] of attacks) {
      const answer = callRaw(openSession(socket), path, message, headers);
      answered += await answeredDuring(socket, answer);
      expect(Number((await answer).headers["grpc-status"])).toBe(Code.InvalidArgument);
    }
    // One of them alone may be refused sooner than anybody else can ask.
    expect(answered).toBeGreaterThan(0);
    await list(socket);
    expect(child.exitCode).toBeNull();
    // This has room for the request, its copy in one piece, and the text parser's memory. Decoding the request would
    // take 4 GiB and end the process.
    expect(peakMib() - before).toBeLessThan(650);
  }, 120_000);

  test("takes large requests one after another, and keeps what it cannot take out of its memory", async () => {
    const { socket, peakMib } = await startHost();
    await list(socket);
    const before = peakMib();
    const request = (at: number): Uint8Array =>
      toBinary(
        RunRequestSchema,
        create(RunRequestSchema, { id: `job-${at}`, ciScript: "", maskedValues: ["x".repeat(16 * MIB)] }),
      );
    const calls = Array.from({ length: 16 }, (_, at) => callRaw(openSession(socket), OURS, request(at)));
    const all = Promise.all(calls.map((call) => call.catch((): Answer | undefined => undefined)));
    expect(await answeredDuring(socket, all)).toBeGreaterThan(0);
    const statuses = (await all).map((answer) => answer?.headers["grpc-status"]);
    // They have neither steps nor a script; more than fit at once are sent away before they are whole.
    for (const status of statuses)
      expect([undefined, `${Code.InvalidArgument}`, `${Code.ResourceExhausted}`]).toContain(status);
    expect(statuses).toContain(`${Code.InvalidArgument}`);
    expect(peakMib() - before).toBeLessThan(900);
    await list(socket);
  }, 120_000);

  test("keeps a request that comes in pieces of one byte in little more than its size", async () => {
    const { socket, peakMib } = await startHost();
    await list(socket);
    const before = peakMib();
    const session = openSession(socket);
    const stream = session.request({ ":method": "POST", ":path": OURS, "content-type": "application/grpc" });
    stream.on("error", () => undefined);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(MIB, 1);
    stream.write(head);
    for (let sent = 0; sent < 200_000; sent += 1000) {
      let last: Promise<void> | undefined;
      for (let at = 0; at < 1000; at++) last = new Promise((resolve) => stream.write(Buffer.of(0), () => resolve()));
      await last;
    }
    await list(socket);
    expect(peakMib() - before).toBeLessThan(60);
  }, 120_000);
});
