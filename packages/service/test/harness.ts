import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { gitlab, StepRunner } from "@steps/proto/service";
import { tempDir } from "@steps/testkit";
import { onTestFinished } from "vitest";
import { createService, type JobTable, openJobTable, type Service, type ServiceOptions } from "../src/index.ts";
import { listenUnix, stopService } from "../src/listen/index.ts";

/** A service with a real job table on a real socket. */
export interface World {
  readonly dir: string;
  readonly socket: string;
  readonly jobs: JobTable;
  readonly service: Service;
  /** The lines that the operator was told. */
  readonly log: string[];
  readonly ours: Client<typeof StepRunner>;
  readonly theirs: Client<typeof gitlab.StepRunner>;
  stop(): Promise<void>;
}

type Options = Partial<Omit<ServiceOptions, "log">> & { readonly maxJobs?: number };

export async function openWorld(options: Options = {}): Promise<World> {
  const { maxJobs, ...rest } = options;
  const dir = tempDir("steps-service-");
  const log: string[] = [];
  const jobs =
    options.jobs ??
    (await openJobTable({
      stateDir: join(dir, "state"),
      cacheDir: join(dir, "cache"),
      runner: { name: "test", version: "1" },
      graceMs: 500,
      limits: maxJobs === undefined ? undefined : { maxJobs },
    }));
  const service = createService({
    workDir: dir,
    ...rest,
    jobs,
    log: (_, message, facts) => log.push(`${message} ${JSON.stringify(facts)}`),
  });
  const socket = join(dir, "run", "s.sock");
  const listener = await listenUnix(service, socket);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopService(service, [listener]));
  onTestFinished(stop);
  const { ours, theirs } = clientsOf(socket);
  return { dir, socket, jobs, service, log, ours, theirs, stop };
}

/** Clients of both services, over a connection of their own. */
export function clientsOf(
  socket: string,
  headers: Readonly<Record<string, string>> = {},
): Pick<World, "ours" | "theirs"> {
  const transport = createGrpcTransport({
    baseUrl: "http://localhost",
    nodeOptions: { createConnection: () => connect(socket) },
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
        return next(request);
      },
    ],
  });
  return { ours: createClient(StepRunner, transport), theirs: createClient(gitlab.StepRunner, transport) };
}

/** A bare HTTP/2 session to a socket, ended with the test. */
export function openSession(socket: string): ClientHttp2Session {
  const session = connectHttp2("http://localhost", { createConnection: () => connect(socket) });
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

/** All output of a job, by stream. */
export async function readAll(
  client: Client<typeof StepRunner>,
  id: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
  for await (const { stream, streamType } of client.followIO({ id }))
    parts[streamType === 0 ? "stdout" : "stderr"].push(Buffer.from(stream));
  return { stdout: Buffer.concat(parts.stdout).toString(), stderr: Buffer.concat(parts.stderr).toString() };
}

/** A request of gRPC with one message, as it is on the wire. */
export function envelope(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

export interface Answer {
  readonly status: number;
  /** Headers and trailers. */
  readonly headers: Record<string, string>;
  /** The messages, without what is around them. */
  readonly messages: Buffer[];
}

/** Sends one gRPC request with the given headers, and reads the answer to its end. */
export function callRaw(
  session: ClientHttp2Session,
  path: string,
  message: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const found: Record<string, string> = {};
    const chunks: Buffer[] = [];
    const collect = (given: object): void => {
      for (const [name, value] of Object.entries(given)) found[name] = String(value);
    };
    stream.on("response", collect);
    stream.on("trailers", collect);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    stream.on("end", () => {
      resolve({ status: Number(found[":status"]), headers: found, messages: split(Buffer.concat(chunks)) });
    });
    stream.end(envelope(message));
  });
}

function split(bytes: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at + 5 <= bytes.length;) {
    const length = bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return messages;
}
