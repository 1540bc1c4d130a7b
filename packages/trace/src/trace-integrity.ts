import type { IntegrityJson } from "@steps/proto";

/** The version of the rules by which secrets were redacted. */
const REDACTION_POLICY = "steps-mask/1";

/** The facts of a journal that a trace names: the digest of its last line, and how many events it has. */
export interface TraceOptions {
  readonly journalRoot: string;
  readonly journalEvents: number;
  /** The journal is of a run that did not end. */
  readonly isRecovered?: boolean;
}

/** The part of a trace that says what it was made of. `requestDigest`: that of the request, for the trace of a run. */
export function encodeIntegrity(
  { journalRoot, journalEvents, isRecovered }: TraceOptions,
  requestDigest?: string,
): IntegrityJson {
  return {
    journalRoot,
    ...(journalEvents > 0 ? { journalEvents: String(journalEvents) } : {}),
    redactionPolicy: REDACTION_POLICY,
    ...(requestDigest === undefined ? {} : { requestDigest }),
    ...(isRecovered === true ? { recovered: true } : {}),
  };
}
