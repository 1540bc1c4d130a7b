import { connect } from "node:net";
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { health, reflection, reflectionAlpha } from "@steps/proto/service";
import { describe, expect, test } from "vitest";
import { openWorld } from "./harness.ts";

function transportTo(socket: string): Transport {
  return createGrpcTransport({
    baseUrl: "http://localhost",
    nodeOptions: { createConnection: () => connect(socket) },
  });
}

describe("health", () => {
  test("of the whole, of each service, and of one that is not there", async () => {
    const { socket } = await openWorld();
    const client = createClient(health.Health, transportTo(socket));
    for (const service of ["", "steps.v1.StepRunner", "proto.StepRunner"])
      expect((await client.check({ service })).status).toBe(health.HealthCheckResponse_ServingStatus.SERVING);
    const error = await client.check({ service: "x" }).catch((cause: unknown) => ConnectError.from(cause));
    expect(error).toMatchObject({ code: Code.NotFound });
  });

  test("is watched until the service stops", async () => {
    const world = await openWorld();
    const client = createClient(health.Health, transportTo(world.socket));
    const seen: number[] = [];
    const first = Promise.withResolvers<void>();
    const watching = (async () => {
      for await (const { status } of client.watch({})) {
        seen.push(status);
        first.resolve();
      }
    })();
    await first.promise;
    await world.stop();
    await watching;
    const { SERVING, NOT_SERVING } = health.HealthCheckResponse_ServingStatus;
    expect(seen).toEqual([SERVING, NOT_SERVING]);
  });
});

describe.each([
  ["v1", reflection],
  ["v1alpha", reflectionAlpha],
])("reflection %s", (_version, { ServerReflection }) => {
  async function ask(socket: string, messageRequest: object) {
    const client = createClient(ServerReflection as typeof reflection.ServerReflection, transportTo(socket));
    async function* requests() {
      yield { host: "h", messageRequest: messageRequest as never };
    }
    for await (const { messageResponse, validHost, originalRequest } of client.serverReflectionInfo(requests())) {
      expect(validHost).toBe("h");
      expect(originalRequest?.messageRequest).toMatchObject(messageRequest);
      return messageResponse;
    }
    throw new Error("There was no answer");
  }

  async function filesOf(socket: string, messageRequest: object) {
    const answer = await ask(socket, messageRequest);
    if (answer.case !== "fileDescriptorResponse") throw new Error(`The answer is ${String(answer.case)}`);
    return answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  }

  test("lists the services", async () => {
    const { socket } = await openWorld();
    const answer = await ask(socket, { case: "listServices", value: "" });
    expect(answer.case === "listServicesResponse" ? answer.value.service.map(({ name }) => name) : []).toEqual([
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "proto.StepRunner",
      "steps.v1.StepRunner",
    ]);
  });

  test("gives a file with all of its imports, so that messages can be built from it", async () => {
    const { socket } = await openWorld();
    const file = await filesOf(socket, { case: "fileContainingSymbol", value: "steps.v1.StepRunner.FollowIO" });
    expect(file.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["steps/v1/step_runner.proto", "buf/validate/validate.proto"]),
    );
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: file.toReversed() }));
    const schema = registry.getMessage("steps.v1.FollowIORequest");
    expect(schema?.fields.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
    // The rules are still in it.
    expect(schema === undefined ? 0 : toBinary(FileDescriptorProtoSchema, schema.file.proto).length).toBeGreaterThan(
      2000,
    );
  });

  test.each([
    ["fileByFilename", "buf/validate/validate.proto", "buf/validate/validate.proto"],
    ["fileContainingSymbol", "proto.Job.build_dir", "proto/step.proto"],
    ["fileContainingSymbol", "steps.v1.Job.running", "steps/v1/step_runner.proto"],
    ["fileContainingSymbol", "buf.validate.field", "buf/validate/validate.proto"],
    ["fileContainingSymbol", ".google.protobuf.Duration", "google/protobuf/duration.proto"],
  ])("%s %s", async (kind, value, name) => {
    const { socket } = await openWorld();
    expect((await filesOf(socket, { case: kind, value }))[0]?.name).toBe(name);
  });

  test("extensions", async () => {
    const { socket } = await openWorld();
    const containingType = "google.protobuf.FieldOptions";
    const numbers = await ask(socket, { case: "allExtensionNumbersOfType", value: containingType });
    expect(numbers).toMatchObject({ case: "allExtensionNumbersResponse", value: { extensionNumber: [1159, 1160] } });
    const files = await filesOf(socket, {
      case: "fileContainingExtension",
      value: { containingType, extensionNumber: 1159 },
    });
    expect(files[0]?.name).toBe("buf/validate/validate.proto");
  });

  test.each([
    [{ case: "fileByFilename", value: "x.proto" }],
    [{ case: "fileContainingSymbol", value: "x.Y" }],
    [{ case: "allExtensionNumbersOfType", value: "x.Y" }],
    [{ case: "fileContainingExtension", value: { containingType: "x.Y", extensionNumber: 1 } }],
  ])("%j is not found", async (request) => {
    const { socket } = await openWorld();
    expect(await ask(socket, request)).toMatchObject({ case: "errorResponse", value: { errorCode: Code.NotFound } });
  });
});
