export type { ServerArtifact, ServerCache } from "../payload/server-job.ts";
export type { DigestOfFiles } from "./server-caches.ts";
export type { ServerImage } from "./server-containers.ts";
export {
  type ServerJobRequest,
  type ServerPayload,
  type ServerPipeline,
  serverPipeline,
  type ServerPipelineOptions,
} from "./server-pipeline.ts";
export type { ServerHook, ServerScript } from "./server-scripts.ts";
export type { ServerVariable } from "./server-variables.ts";
