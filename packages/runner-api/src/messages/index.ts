export { JOB_REQUEST, type JobRequest } from "./job-request.ts";
export { JOB_UPDATE, type JobOutput, type JobUpdate, type ReportedState } from "./job-update.ts";
export { RUNNER_FEATURES, type RunnerInfo } from "./runner-info.ts";
export {
  type AccessLevel,
  API_ERROR,
  type ApiErrorBody,
  CREATE_RUNNER_REQUEST,
  type CreateRunnerRequest,
  MANAGER_REQUEST,
  type ManagerRequest,
  REGISTER_REQUEST,
  REGISTERED_RUNNER,
  type RegisteredRunner,
  type RegisterRequest,
  RESET_TOKEN,
  type ResetToken,
  TOKEN_REQUEST,
  type TokenRequest,
  VERIFY_REQUEST,
  type VerifyRequest,
} from "./runners.ts";
