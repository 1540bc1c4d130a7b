export { CI_RULES, type CiCode } from "./ci-rules.ts";
export { listJobs } from "./list-jobs.ts";
export {
  type TranslatedJob,
  translateJob,
  type TranslateJobOptions,
  type TranslateJobResult,
} from "./translate-job.ts";
