import { StepsError } from "@steps/model";

/** The reasons for which a service refuses a call. */
export type ServiceErrorCode =
  | "JOB_EXISTS"
  | "JOB_CLOSED"
  | "JOB_NOT_FOUND"
  | "JOB_RUNNING"
  | "TOO_MANY_JOBS"
  | "SERVICE_DRAINING"
  | "OFFSET_OUT_OF_RANGE"
  | "LOG_DAMAGED"
  | "STATE_IN_USE"
  | "STATE_UNUSABLE"
  | "REQUEST_INVALID"
  | "TOKEN_MISSING"
  | "TOKEN_WRONG"
  | "WORK_DIR_UNUSABLE"
  | "SOCKET_IN_USE"
  | "COMMAND_UNUSABLE"
  | "SOCKET_UNUSABLE";

/** A fault of a call to the service, or of its socket. */
export class ServiceError extends StepsError<ServiceErrorCode> {}
