export {
  type CompiledServerJob,
  compileServerJob,
  type CompileServerJobOptions,
  type CompileServerJobResult,
} from "./compile-server-job.ts";
export type {
  ServerArtifact,
  ServerCache,
  ServerDependency,
  ServerJob,
  ServerSources,
  ServerVariable,
} from "./server-job.ts";
export type { JobServer } from "./server-phases.ts";
export type { JobValue, RunnerVariables } from "./server-variables.ts";
