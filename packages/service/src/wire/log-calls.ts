import { create, toBinary } from "@bufbuild/protobuf";
import {
  type FollowIORequest,
  FollowIORequestSchema,
  FollowIOResponse_StreamType,
  FollowIOResponseSchema,
  gitlab,
  StepRunner,
} from "@steps/proto/service";
import type { OutputPiece } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import type { ByteCall, ByteMessage } from "./byte-stream.ts";
import { requireJob } from "./job-access.ts";
import type { CallContext } from "./start-job.ts";
import { checkRequest } from "./validate-requests.ts";

/** The output that `FollowIO` asks for. @throws {ServiceError} */
export function readOutput(
  { jobs }: CallContext,
  request: FollowIORequest,
  call: { readonly headers: Headers; readonly signal: AbortSignal },
): AsyncIterable<OutputPiece> {
  const job = requireJob(jobs, request.id, call.headers);
  const offsets = {
    stdout: Number(request.stdoutOffset ?? request.readStdout),
    stderr: Number(request.stderrOffset ?? request.readStderr),
  };
  return job.readOutput(offsets, call.signal);
}

/** The log that `FollowLogs` asks for. @throws {ServiceError} */
export function readLog(
  { jobs }: CallContext,
  { id, offset }: gitlab.FollowLogsRequest,
  call: { readonly headers: Headers; readonly signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  const job = requireJob(jobs, id, call.headers);
  if (offset < 0n) throw new ServiceError("REQUEST_INVALID", "offset: it cannot be negative");
  return job.readStamped(Number(offset), call.signal);
}

/** The fields of a message of `FollowIO` that are not its bytes. */
export function outputFields({ stream, offset }: OutputPiece): {
  readonly streamType: FollowIOResponse_StreamType;
  readonly offset: bigint;
} {
  return { streamType: FollowIOResponse_StreamType[stream], offset: BigInt(offset) };
}

/** `steps.v1.StepRunner/FollowIO` for gRPC clients. */
export function followIOCall(context: CallContext): ByteCall<typeof FollowIORequestSchema> {
  return {
    name: `${StepRunner.typeName}/FollowIO`,
    input: FollowIORequestSchema,
    bytesField: FollowIOResponseSchema.field.stream.number,
    check: (message) => checkRequest(FollowIORequestSchema, message),
    async *messages(message, headers, signal) {
      for await (const piece of readOutput(context, message, { headers, signal }))
        yield { bytes: piece.bytes, fields: encodeFields(piece) };
    },
  };
}

/** `proto.StepRunner/FollowLogs` for gRPC clients. */
export function followLogsCall(context: CallContext): ByteCall<typeof gitlab.FollowLogsRequestSchema> {
  return {
    name: `${gitlab.StepRunner.typeName}/FollowLogs`,
    input: gitlab.FollowLogsRequestSchema,
    bytesField: gitlab.FollowLogsResponseSchema.field.data.number,
    check: () => Promise.resolve(),
    async *messages(message, headers, signal) {
      for await (const bytes of readLog(context, message, { headers, signal })) yield { bytes, fields: NO_FIELDS };
    },
  };
}

const NO_FIELDS: ByteMessage["fields"] = new Uint8Array(0);

function encodeFields(piece: OutputPiece): Uint8Array {
  return toBinary(FollowIOResponseSchema, create(FollowIOResponseSchema, outputFields(piece)));
}
