export * from "./gen/steps/v1/step_pb.ts";
export * from "./gen/steps/v1/trace_pb.ts";
export * from "./gen/steps/v1/pipeline_trace_pb.ts";
