export type { Dial } from "./dial.ts";
export { ClientError, type ClientErrorCode } from "./client-error.ts";
export { connectService, type ConnectOptions } from "./connect-service.ts";
export type { CallOptions, Offsets, OutputPiece, ServerIdentity, ServiceClient } from "./service-client.ts";
export { createJobToken, type JobNote, type JobRequest, type JobVariable, toRunRequest } from "./job-request.ts";
export type { ClientState, FollowOptions, JobOutcome } from "./follow-options.ts";
export { followJob, runAndFollow, startJob } from "./run-and-follow.ts";
export { cancelJob, closeJob, type JobCallOptions, listJobs } from "./job-calls.ts";
