import { spawn } from "node:child_process";
import { once } from "node:events";
import { Duplex } from "node:stream";
import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RunRequestSchema, StepRunner } from "@steps/proto/service";
import { isFullSize } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { connectService, type Dial } from "../src/index.ts";
import { countedBytes, startFakeService } from "./fake-service.ts";

const RELAY = `
const socket = require("node:net").connect(process.argv[1]);
process.stdin.pipe(socket).pipe(process.stdout);
for (const end of [process.stdin, socket]) end.on("close", () => process.exit()).on("error", () => process.exit(1));
`;

// A process whose stdio is the connection, as with an exec into a container.
function dialRelay(path: string): Duplex {
  const child = spawn(process.execPath, ["-e", RELAY, path], { stdio: ["pipe", "pipe", "inherit"] });
  const duplex = Duplex.from({ readable: child.stdout, writable: child.stdin });
  duplex.on("error", () => undefined);
  duplex.on("close", () => child.kill());
  onTestFinished(async () => {
    duplex.destroy();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  return duplex;
}

const CALLS = isFullSize ? 2000 : 500;
const PIECES = isFullSize ? 200 : 50;

test("very many calls and very much output over the stdio of a process, one dial", { timeout: 120_000 }, async () => {
  const fake = await startFakeService();
  const piece = countedBytes(1 << 20);
  fake.onStart = (job) => {
    for (let at = 0; at < PIECES; at++) job.write("stdout", piece);
    job.end(0);
  };
  const dial: Dial = async () => dialRelay(fake.path);
  using service = await connectService(dial);
  for (let call = 0; call < CALLS; call++) expect(await service.list()).toEqual([]);
  await service.run(create(RunRequestSchema, { id: "big" }));
  let bytes = 0;
  let wrong = 0;
  for await (const { bytes: chunk, offset } of service.followIO("big", { stdout: 0, stderr: 0 })) {
    if (offset !== bytes) wrong++;
    const at = offset % piece.length;
    if (Buffer.compare(chunk, piece.subarray(at, at + chunk.length)) !== 0) wrong++;
    bytes += chunk.length;
  }
  expect({ bytes, wrong, dials: fake.calls["dial"] }).toEqual({ bytes: PIECES << 20, wrong: 0, dials: 1 });
});

// Why there is a client of our own: if this begins to pass, connect-node's would do.
test("connect-node's own client fails over the same stream", async () => {
  const fake = await startFakeService();
  const transport = createGrpcTransport({
    baseUrl: "http://localhost",
    nodeOptions: { createConnection: () => dialRelay(fake.path) },
    acceptCompression: [],
  });
  const client = createClient(StepRunner, transport);
  const calls = async (): Promise<void> => {
    for (let call = 0; call < 2000; call++) await client.list({});
  };
  await expect(calls()).rejects.toThrow("Premature close");
});
