export type { GitInfo, JobFeatures, JobInfo, RunnerInfoOfJob } from "./about.ts";
export type { ExecutorOptions, ImageSpec, ImageVariable } from "./image.ts";
export type { JobInput } from "./input.ts";
export { PAYLOAD } from "./payload-message.ts";
export type {
  ArtifactSpec,
  CacheSpec,
  JobDependency,
  JobHook,
  JobPayload,
  JobVariable,
  RegistryCredential,
  ScriptStep,
} from "./payload.ts";
