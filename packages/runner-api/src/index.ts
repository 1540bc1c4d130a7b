export {
  apiBase,
  FAILURE_REASONS,
  type FailureReason,
  HEADERS,
  MESSAGE_LIMITS,
  PATHS,
  readSeconds,
  reasonFor,
  RUNNER_TOKEN_PREFIX,
  STOPPING,
  SYSTEM_ID_PATTERN,
} from "./names.ts";
export { RunnerApiError, type RunnerApiErrorCode } from "./runner-api-error.ts";
export type { Message } from "./shape/message.ts";
export { tokensOf } from "./tokens-of.ts";
