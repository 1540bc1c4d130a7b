export { listJobs } from "./list-jobs.ts";
export {
  type TranslatedJob,
  translateJob,
  type TranslateJobOptions,
  type TranslateJobResult,
} from "./translate-job.ts";
