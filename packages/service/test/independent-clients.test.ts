import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import {
  fromBinary,
  toBinary,
  create,
  type DescMessage,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import {
  gitlab,
  FollowIORequestSchema,
  FollowIOResponseSchema,
  ListRequestSchema,
  ListResponseSchema,
  RunRequestSchema,
  RunResponseSchema,
} from "@steps/proto/service";
import { hasProgram } from "@steps/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { openWorld } from "./harness.ts";

const steps = "{}\n---\nrun:\n  - {name: it, script: 'seq 1 20000; exit 3'}\n";

/** Calls by hand-made definitions: nothing of this client comes from the library that serves. */
function grpcJs(socket: string) {
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  onTestFinished(() => client.close());
  const encode =
    <T extends DescMessage>(schema: T) =>
    (init: MessageInitShape<T>): Buffer =>
      Buffer.from(toBinary(schema, create(schema, init)));
  const decode =
    <T extends DescMessage>(schema: T) =>
    (bytes: Buffer): MessageShape<T> =>
      fromBinary(schema, bytes);
  return {
    unary: <I extends DescMessage, O extends DescMessage>(
      path: string,
      [input, output]: [I, O],
      request: MessageInitShape<I>,
      metadata = new Metadata(),
    ) =>
      new Promise<MessageShape<O>>((resolve, reject) => {
        client.makeUnaryRequest(path, encode(input), decode(output), request, metadata, (error, value) =>
          error === null ? resolve(value as MessageShape<O>) : reject(error),
        );
      }),
    stream: <I extends DescMessage, O extends DescMessage>(
      path: string,
      [input, output]: [I, O],
      request: MessageInitShape<I>,
    ) => client.makeServerStreamRequest(path, encode(input), decode(output), request) as AsyncIterable<MessageShape<O>>,
  };
}

describe("grpc-js", () => {
  test("drives GitLab's service", async () => {
    const { socket } = await openWorld();
    const { unary, stream } = grpcJs(socket);
    await unary("/proto.StepRunner/Run", [gitlab.RunRequestSchema, gitlab.RunResponseSchema], { id: "1", steps });
    let text = "";
    for await (const { data } of stream(
      "/proto.StepRunner/FollowLogs",
      [gitlab.FollowLogsRequestSchema, gitlab.FollowLogsResponseSchema],
      { id: "1" },
    ))
      text += Buffer.from(data).toString();
    const lines = text.split("\n").filter((line) => line[30] === "O");
    expect(lines.map((line) => line.slice(32)).join(",")).toBe(
      Array.from({ length: 20_000 }, (_, i) => i + 1).join(","),
    );
    const status = await unary("/proto.StepRunner/Status", [gitlab.StatusRequestSchema, gitlab.StatusResponseSchema], {
      id: "1",
    });
    expect(status.jobs[0]?.message).toMatch(/exit status 3$/);
    await unary("/proto.StepRunner/Close", [gitlab.CloseRequestSchema, gitlab.CloseResponseSchema], { id: "1" });
    const error = await unary("/proto.StepRunner/Status", [gitlab.StatusRequestSchema, gitlab.StatusResponseSchema], {
      id: "1",
    }).catch((cause: unknown) => cause as ServiceError);
    expect(error).toMatchObject({ code: 5, details: 'There is no job "1"' });
  });

  test("drives ours, and reads why it is refused", async () => {
    const { socket } = await openWorld();
    const { unary, stream } = grpcJs(socket);
    const metadata = new Metadata();
    metadata.set("grpc-accept-encoding", "gzip");
    await unary(
      "/steps.v1.StepRunner/Run",
      [RunRequestSchema, RunResponseSchema],
      { id: "1", ciScript: "head -c 3000000 /dev/zero" },
      metadata,
    );
    let bytes = 0;
    for await (const { stream: piece } of stream(
      "/steps.v1.StepRunner/FollowIO",
      [FollowIORequestSchema, FollowIOResponseSchema],
      { id: "1" },
    ))
      bytes += piece.length;
    expect(bytes).toBe(3_000_000);
    expect((await unary("/steps.v1.StepRunner/List", [ListRequestSchema, ListResponseSchema], {})).jobs).toHaveLength(
      1,
    );
    const refused = await unary("/steps.v1.StepRunner/Run", [RunRequestSchema, RunResponseSchema], {
      id: "2",
      definition: "- {name: a}\n",
    }).catch((cause: unknown) => cause as ServiceError);
    expect(refused).toMatchObject({ code: 3, details: expect.stringContaining("definition:1:3: error:") as string });
    const unknown = await unary("/steps.v1.StepRunner/Nothing", [RunRequestSchema, RunResponseSchema], {}).catch(
      (cause: unknown) => cause as ServiceError,
    );
    expect(unknown).toMatchObject({ code: 12 });
  });
});

// Debian's package is for Debian's python.
const hasPythonGrpc = spawnSync("/usr/bin/python3", ["-c", "import grpc"]).status === 0 || hasProgram("python3-grpcio");

test.skipIf(!hasPythonGrpc)("python's gRPC drives both services", async () => {
  const { socket } = await openWorld();
  const child = spawn("/usr/bin/python3", [join(import.meta.dirname, "client.py"), socket], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect({ code, out, errors }).toEqual({ code: 0, out: "ok\n", errors: "" });
});
