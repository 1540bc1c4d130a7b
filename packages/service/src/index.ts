export type { Job, JobInfo, JobSpec, JobTable, JobVariable, OutputPiece, ResultState } from "./job-spec.ts";
export { ServiceError, type ServiceErrorCode } from "./service-error.ts";
