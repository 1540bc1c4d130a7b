import { StepsError } from "@steps/model";

/**
 * Why there is no connection: nobody answers there now (`UNREACHABLE`), we may not (`DENIED`), what was named does not exist
 * (`NOT_FOUND`), there is no proxy or no service behind it (`NO_SERVICE`), the address makes no sense (`ADDRESS_INVALID`),
 * or the other side spoke something else than it should (`PROTOCOL`).
 */
export type DialErrorCode = "UNREACHABLE" | "DENIED" | "NOT_FOUND" | "NO_SERVICE" | "ADDRESS_INVALID" | "PROTOCOL";

const PERMANENT: ReadonlySet<DialErrorCode> = new Set(["DENIED", "NOT_FOUND", "ADDRESS_INVALID", "PROTOCOL"]);

/** A connection could not be made, or was lost in a way that can be named. */
export class DialError extends StepsError<DialErrorCode> {
  /** True when trying again would not help. */
  readonly isPermanent: boolean;

  /** @param options `isPermanent` says so of one whose code leaves it open. */
  constructor(
    code: DialErrorCode,
    message: string,
    options?: { cause?: unknown; hint?: string | undefined; isPermanent?: boolean },
  ) {
    super(code, message, options);
    this.isPermanent = options?.isPermanent ?? PERMANENT.has(code);
  }
}
