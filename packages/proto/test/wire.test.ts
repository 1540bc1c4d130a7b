import type { DescMessage, DescService } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import * as service from "../src/service.ts";

/** `name number type`, with `…` for a list or a stream and `→` for a map. */
function shapeOf(message: DescMessage, below = Number.POSITIVE_INFINITY): string[] {
  return message.fields
    .filter(({ number }) => number < below)
    .map((field) => `${field.name} ${field.number} ${field.fieldKind} ${typeOf(field.proto)}`);
}

function typeOf(proto: { readonly type: number; readonly typeName: string }): string {
  return proto.typeName === "" ? `#${proto.type}` : proto.typeName.replace(/^\./, "");
}

function methodsOf({ methods }: DescService): string[] {
  return methods.map((method) => `${method.name} ${method.methodKind} ${method.input.name} ${method.output.name}`);
}

// The proposal "Runner Integration": what is written there is what is on the wire. 5 int32, 9 string, 12 bytes.
test("steps.v1.StepRunner is the proposal's", () => {
  expect(service.StepRunner.typeName).toBe("steps.v1.StepRunner");
  expect(methodsOf(service.StepRunner).slice(0, 5)).toEqual([
    "Run unary RunRequest RunResponse",
    "Follow server_streaming FollowRequest FollowResponse",
    "FollowIO server_streaming FollowIORequest FollowIOResponse",
    "Cancel unary CancelRequest CancelResponse",
    "List unary ListRequest ListResponse",
  ]);
  expect(shapeOf(service.RunRequestSchema, 100)).toEqual([
    "id 1 scalar #9",
    "work_dir 2 scalar #9",
    "env 3 map steps.v1.RunRequest.EnvEntry",
    "type 4 enum steps.v1.RunRequest.StepType",
    "steps 5 list steps.v1.Step",
    "ci_script 6 scalar #9",
  ]);
  expect(shapeOf(service.FollowRequestSchema)).toEqual(["id 1 scalar #9"]);
  expect(shapeOf(service.FollowResponseSchema, 100)).toEqual(["result 1 message steps.v1.StepResult"]);
  expect(shapeOf(service.FollowIORequestSchema, 4)).toEqual([
    "id 1 scalar #9",
    "read_stdout 2 scalar #5",
    "read_stderr 3 scalar #5",
  ]);
  expect(shapeOf(service.FollowIOResponseSchema, 3)).toEqual([
    "stream 1 scalar #12",
    "stream_type 2 enum steps.v1.FollowIOResponse.StreamType",
  ]);
  expect(shapeOf(service.CancelRequestSchema)).toEqual(["id 1 scalar #9"]);
  expect(shapeOf(service.ListRequestSchema, 100)).toEqual([]);
  expect(shapeOf(service.JobSchema, 100)).toEqual([
    "id 1 scalar #9",
    "status 2 enum steps.v1.Job.JobStatus",
    "finished_time 3 message google.protobuf.Timestamp",
  ]);
  expect(shapeOf(service.ListResponseSchema, 100)).toEqual(["jobs 1 list steps.v1.Job"]);
});

test("the proposal's enums have its names and numbers", () => {
  expect(service.RunRequest_StepType).toEqual({ unknown: 0, step: 1, script: 2 });
  expect(service.FollowIOResponse_StreamType).toEqual({ stdout: 0, stderr: 1 });
  expect(service.Job_JobStatus).toEqual({ running: 0, suceeded: 1, failed: 2 });
});

test("proto.StepRunner is GitLab's", () => {
  const { gitlab } = service;
  expect(gitlab.StepRunner.typeName).toBe("proto.StepRunner");
  expect(methodsOf(gitlab.StepRunner)).toEqual([
    "Run unary RunRequest RunResponse",
    "FollowLogs server_streaming FollowLogsRequest FollowLogsResponse",
    "Close unary CloseRequest CloseResponse",
    "Status unary StatusRequest StatusResponse",
    "Cancel unary CancelRequest CancelResponse",
  ]);
  expect(shapeOf(gitlab.RunRequestSchema)).toEqual([
    "id 1 scalar #9",
    "work_dir 2 scalar #9",
    "env 3 map proto.RunRequest.EnvEntry",
    "job 5 message proto.Job",
    "steps 6 scalar #9",
  ]);
  expect(shapeOf(gitlab.JobSchema)).toEqual(["variables 1 list proto.Variable", "build_dir 4 scalar #9"]);
  expect(shapeOf(gitlab.VariableSchema)).toEqual([
    "key 1 scalar #9",
    "value 2 scalar #9",
    "file 3 scalar #8",
    "masked 4 scalar #8",
  ]);
  expect(shapeOf(gitlab.FollowLogsRequestSchema)).toEqual(["id 1 scalar #9", "offset 2 scalar #3"]);
  expect(shapeOf(gitlab.FollowLogsResponseSchema)).toEqual(["data 1 scalar #12"]);
  expect(shapeOf(gitlab.StatusSchema)).toEqual([
    "id 1 scalar #9",
    "message 2 scalar #9",
    "status 3 enum proto.StepResult.Status",
    "start_time 5 message google.protobuf.Timestamp",
    "end_time 6 message google.protobuf.Timestamp",
  ]);
  expect(gitlab.StepResult_Status).toEqual({ unspecified: 0, running: 1, success: 2, failure: 3, cancelled: 4 });
});
