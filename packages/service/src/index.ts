export type {
  JobHandle,
  JobInfo,
  JobSubmission,
  JobTable,
  JobVariable,
  OutputPiece,
  ResultState,
  SubmittedJob,
} from "./job-submission.ts";
export { ServiceError, type ServiceErrorCode } from "./service-error.ts";
export { createService, type Service, type ServiceOptions } from "./create-service.ts";
export { describeFault } from "./describe-fault.ts";
export { ERROR_HEADER } from "./wire/connect-error.ts";
export { TOKEN_HEADER } from "./wire/job-access.ts";
export { type JobLimits, type JobTableOptions, openJobTable } from "./jobs/open-job-table.ts";
export { engineDirectories } from "./jobs/job-folder.ts";
export { runSession } from "./run-session.ts";
