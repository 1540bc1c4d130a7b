export { CI_RULES, type CiCode, type CiDiagnostic, type CiReport } from "./ci-rules.ts";
export type { Shell } from "./compile/compile-context.ts";
export {
  checkJobs,
  type CompiledJob,
  compileJob,
  type CompileJobOptions,
  type CompileJobResult,
} from "./compile/compile-job.ts";
export { ignoredKeywords } from "./job-effects.ts";
export { checkRules } from "./judge-pipeline.ts";
export { unknownNamesOf } from "./unknown-names.ts";
export { judgeJob, type JudgedJob, type JudgeJobOptions, type JudgeJobResult } from "./judge-job.ts";
