import { StepsError } from "@steps/model";

/**
 * Why a job could not be run or followed to its end: the request is malformed (`REQUEST_INVALID`), the service says no
 * (`REFUSED`), it does not know the job any more (`JOB_LOST`), it sent other bytes than were asked for (`LOG_DAMAGED`),
 * there never was a connection (`CONNECTION_FAILED`) or none any more (`CONNECTION_LOST`), the caller gave up before the job
 * started (`CANCELLED`), did not wait for its end (`ABANDONED`) or left it to itself (`DETACHED`).
 */
export type ClientErrorCode =
  | "REQUEST_INVALID"
  | "REFUSED"
  | "JOB_LOST"
  | "LOG_DAMAGED"
  | "CONNECTION_FAILED"
  | "CONNECTION_LOST"
  | "CANCELLED"
  | "ABANDONED"
  | "DETACHED";

/** A job could not be run or followed to its end. */
export class ClientError extends StepsError<ClientErrorCode> {
  /** The service's own word for why it refused, such as `JOB_EXISTS` or `JOB_CLOSED`, if it said one. */
  readonly serviceCode: string | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string | undefined; serviceCode?: string | undefined } = {},
  ) {
    super(code, message, options);
    this.serviceCode = options.serviceCode;
  }
}
