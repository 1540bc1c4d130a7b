import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { tempDir } from "@steps/testkit";
import {
  FollowIOResponse_StreamType,
  type Job,
  Job_ErrorSchema,
  Job_JobStatus,
  JobSchema,
  type RunRequest,
  StepRunner,
} from "@steps/proto/service";
import { EventEmitter, once } from "node:events";
import { createServer, type ServerHttp2Session } from "node:http2";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Dial, OutputPiece } from "../src/index.ts";

const PIECE_BYTES = 32 << 10;

/** A job of the double: what it has written so far, in order, and whether it has ended. */
export class FakeJob {
  readonly changed: EventEmitter = new EventEmitter().setMaxListeners(0);
  readonly pieces: { stream: "stdout" | "stderr"; bytes: Uint8Array; offset: number }[] = [];
  readonly written = { stdout: 0, stderr: 0 };
  readonly id: string;
  exitCode: number | undefined;
  error: { code: string; message: string } | undefined;

  constructor(id: string) {
    this.id = id;
  }

  write(stream: "stdout" | "stderr", bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.pieces.push({ stream, bytes: piece, offset: this.written[stream] });
      this.written[stream] += piece.length;
    }
    this.changed.emit("change");
  }

  end(exitCode: number, error?: { code: string; message: string }): void {
    this.exitCode ??= exitCode;
    this.error = error;
    this.changed.emit("change");
  }

  toMessage(): Job {
    const { id, exitCode, error, written } = this;
    const job = create(JobSchema, { id, stdoutBytes: BigInt(written.stdout), stderrBytes: BigInt(written.stderr) });
    if (exitCode === undefined) return job;
    Object.assign(job, { exitCode, status: exitCode === 0 ? Job_JobStatus.suceeded : Job_JobStatus.failed });
    if (error !== undefined) job.error = create(Job_ErrorSchema, error);
    return job;
  }
}

/** The controls that the double offers to a test. */
export interface FakeService {
  readonly path: string;
  readonly jobs: Map<string, FakeJob>;
  /** How often each call came, and each connection (`dial`). */
  readonly calls: Record<string, number>;
  /** The requests of `Run`. */
  readonly requests: RunRequest[];
  readonly tokens: (string | null)[];
  instance: string;
  /** Called when a job is started; it may continue afterwards. */
  onStart: (job: FakeJob) => void;
  /** Called when a call came, before anything is done, and after its work was done, before it is answered. */
  onCall: (call: string, when: "before" | "after") => void | Promise<void>;
  onSession: (session: ServerHttp2Session) => void;
  /** Changes pieces on their way out. */
  onPiece: (piece: OutputPiece) => OutputPiece;
  readonly trace: Uint8Array;
  readonly dial: Dial;
  /** Destroys every connection. */
  cut(): void;
  readonly sockets: Set<Socket>;
}

/** A service that keeps its jobs in memory, on a unix socket, until the test ends. */
export async function startFakeService(): Promise<FakeService> {
  const path = join(tempDir(), "s");
  const sockets = new Set<Socket>();
  const calls: Record<string, number> = {};
  const service: FakeService = {
    path,
    jobs: new Map(),
    calls,
    requests: [],
    tokens: [],
    instance: "one",
    onStart: () => undefined,
    onCall: () => undefined,
    onSession: () => undefined,
    onPiece: (piece) => piece,
    trace: new TextEncoder().encode(JSON.stringify({ trace: "x".repeat(300_000) })),
    sockets,
    dial: (signal) => dialSocket(path, signal),
    cut: () => sockets.forEach((socket) => socket.destroy()),
  };
  const server = createServer(
    connectNodeAdapter({ routes: (router) => router.service(StepRunner, implement(service)) }),
  );
  server.on("connection", (socket: Socket) => {
    calls["dial"] = (calls["dial"] ?? 0) + 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  server.on("session", (session) => service.onSession(session));
  server.on("sessionError", () => undefined);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    for (const job of service.jobs.values()) job.end(1);
    service.cut();
    server.close();
  });
  return service;
}

/** Connects to a unix socket. */
export async function dialSocket(path: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(path);
  await once(socket, "connect", { signal });
  return socket;
}

function implement(service: FakeService): ServiceImpl<typeof StepRunner> {
  const around = async <T>(call: string, work: () => T): Promise<T> => {
    service.calls[call] = (service.calls[call] ?? 0) + 1;
    await service.onCall(call, "before");
    const answer = work();
    await service.onCall(call, "after");
    return answer;
  };
  const find = (id: string): FakeJob => {
    const job = service.jobs.get(id);
    if (job === undefined) throw new ConnectError(`There is no job "${id}"`, Code.NotFound);
    return job;
  };
  return {
    run: (request, context) =>
      around("run", () => {
        service.requests.push(request);
        service.tokens.push(context.requestHeader.get("step-runner-job-token"));
        if (service.jobs.has(request.id)) return {};
        const job = new FakeJob(request.id);
        service.jobs.set(request.id, job);
        service.onStart(job);
        return {};
      }),
    list: ({ ids }) =>
      around("list", () => ({
        jobs: [...service.jobs.values()]
          .filter((job) => ids.length === 0 || ids.includes(job.id))
          .map((job) => job.toMessage()),
        runner: { name: "fake", version: "1" },
        instance: service.instance,
      })),
    cancel: ({ id }) =>
      around("cancel", () => {
        find(id).end(143, { code: "CANCELLED", message: "cancelled" });
        return {};
      }),
    close: ({ id }) =>
      around("close", () => {
        service.jobs.get(id)?.end(143);
        service.jobs.delete(id);
        return {};
      }),
    async *followIO(request, { signal }) {
      const job = await around("followIO", () => find(request.id));
      const offsets = { stdout: Number(request.stdoutOffset ?? 0), stderr: Number(request.stderrOffset ?? 0) };
      if (offsets.stdout > job.written.stdout && job.exitCode !== undefined)
        throw new ConnectError("The offset is beyond the end", Code.OutOfRange);
      for (let at = 0; ; at++) {
        while (at >= job.pieces.length && job.exitCode === undefined) await once(job.changed, "change", { signal });
        const piece = job.pieces[at];
        if (piece === undefined) return;
        const skipped = Math.max(0, offsets[piece.stream] - piece.offset);
        if (skipped >= piece.bytes.length) continue;
        const { stream, bytes, offset } = service.onPiece({
          stream: piece.stream,
          bytes: piece.bytes.subarray(skipped),
          offset: piece.offset + skipped,
        });
        yield { stream: bytes, streamType: FollowIOResponse_StreamType[stream], offset: BigInt(offset) };
      }
    },
    async *follow({ id }, { signal }) {
      const job = await around("follow", () => find(id));
      for (;;) {
        const isEnded = job.exitCode !== undefined;
        yield { result: { env: { STATE: isEnded ? "last" : "first" } }, job: job.toMessage() };
        if (isEnded) return;
        await once(job.changed, "change", { signal });
      }
    },
    async *getTrace({ id }) {
      await around("getTrace", () => find(id));
      for (let at = 0; at < service.trace.length; at += 65_536) yield { data: service.trace.subarray(at, at + 65_536) };
    },
  };
}

/** Bytes in which every place can be told from every other: a counter in each group of four. */
export function countedBytes(length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4)).map((_, index) => index * 2_654_435_761);
  return new Uint8Array(words.buffer, 0, length);
}
