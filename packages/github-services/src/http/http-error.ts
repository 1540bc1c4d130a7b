/** An answer that is not a success, thrown by a handler. `code` is what clients branch on, in any protocol's spelling. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "HttpError";
    this.status = status;
    this.code = code;
  }
}

/** 400: the request says something that cannot be. */
export function badRequest(message: string): HttpError {
  return new HttpError(400, "invalid_argument", message);
}

/** 404 */
export function notFound(message: string): HttpError {
  return new HttpError(404, "not_found", message);
}

/** 409: it is there already, or somebody else is making it. */
export function conflict(message: string): HttpError {
  return new HttpError(409, "already_exists", message);
}

/** 413: more than a limit allows. */
export function tooLarge(message: string): HttpError {
  return new HttpError(413, "resource_exhausted", message);
}

/** Whether something thrown is an answer. */
export function isHttpError(error: unknown): error is HttpError {
  return error instanceof HttpError;
}
