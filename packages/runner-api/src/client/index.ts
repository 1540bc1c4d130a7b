export type { ArtifactCalls, ArtifactDownload, ArtifactUpload } from "./artifacts.ts";
export type { Answer, RunnerApiOptions } from "./call.ts";
export { RunnerClientError, type RunnerClientErrorCode } from "./client-error.ts";
export {
  type CallOptions,
  connectRunnerApi,
  type JobAnswer,
  type JobStateAnswer,
  type RunnerApi,
  type TracePatch,
} from "./connect.ts";
export type { TlsFiles } from "./http.ts";
export type { RetryRules } from "./retry.ts";
