// The messages of the service's socket. They are not in the index, so that a run without a service does not load them.
export * from "./gen/steps/v1/step_runner_pb.ts";
/** GitLab's own service, package `proto`. */
export * as gitlab from "./gen/proto/step_pb.ts";
export * as health from "./gen/grpc/health/v1/health_pb.ts";
export * as reflection from "./gen/grpc/reflection/v1/reflection_pb.ts";
export * as reflectionAlpha from "./gen/grpc/reflection/v1alpha/reflection_pb.ts";
