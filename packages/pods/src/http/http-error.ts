/** An answer that is not a success. The message is for the log of the one who asked; it quotes nothing secret. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

/** Something is missing for a moment; the caller may ask again after so many seconds. */
export function unavailable(message: string, seconds = 2): HttpError {
  return new HttpError(503, message, { "retry-after": String(seconds) });
}
