import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

// The fields that newer versions of GitLab's step runner added to its messages. Their existence is known from their
// use; their numbers are inferred, so everything about them is in this file and nowhere else. Jobs run correctly
// without any of them.

/** The presumed number of `RunRequest.timeout`, a `google.protobuf.Duration` (since 0.29). */
export const TIMEOUT_FIELD = 7;
/** The presumed number of `RunRequest.graceful_exit_timeout`, a Duration too (since 0.35). */
export const GRACE_FIELD = 8;
/** The presumed numbers of `Status.error`, a StatusError (since 0.34); a reader takes one and skips the other. */
export const ERROR_FIELDS: readonly number[] = [7, 4];

/** `StatusError.ErrorKind`, which GitLab's runner turns into the reason of a failed job. */
export const ERROR_KINDS = { unknown: 0, step_failure: 1, internal: 2, cancelled: 3, timeout: 4 } as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** The grace of a clean end when the request names none. */
export const DEFAULT_GRACE_MS = 30_000;

type UnknownField = { readonly no: number; readonly wireType: WireType; readonly data: Uint8Array };

/** The durations in the fields of a request that its schema does not know, in milliseconds; 0 counts as none. */
export function readNewerRunFields(fields: readonly UnknownField[] | undefined): {
  readonly timeoutMs?: number;
  readonly graceMs?: number;
} {
  const found = new Map<number, number>();
  for (const { no, wireType, data } of fields ?? []) {
    const ms = wireType === WireType.LengthDelimited ? readDuration(data) : undefined;
    if (ms !== undefined && ms > 0) found.set(no, ms);
  }
  const graceMs = found.get(GRACE_FIELD);
  // Under another number than expected a duration is still far likelier the timeout: the runner never sets the other.
  const others = [...found].filter(([no]) => no !== GRACE_FIELD).map(([, ms]) => ms);
  const timeoutMs = found.get(TIMEOUT_FIELD) ?? (others.length === 1 ? others[0] : undefined);
  return { timeoutMs, graceMs };
}

const MAX_SECONDS = 315_576_000_000n;

// A message is a Duration if it has nothing but varints 1 and 2, in their ranges. The data starts with its length.
function readDuration(data: Uint8Array): number | undefined {
  try {
    const reader = new BinaryReader(new BinaryReader(data).bytes());
    let seconds = 0n;
    let nanos = 0;
    while (reader.pos < reader.len) {
      const [no, wireType] = reader.tag();
      if (wireType !== WireType.Varint) return undefined;
      if (no === 1) seconds = BigInt(reader.int64());
      else if (no === 2) nanos = reader.int32();
      else return undefined;
    }
    if (seconds < 0n || seconds > MAX_SECONDS || nanos < 0 || nanos > 999_999_999) return undefined;
    return Number(seconds) * 1000 + Math.ceil(nanos / 1_000_000);
  } catch {
    return undefined;
  }
}

/**
 * `Status.error` as fields that the schema does not know. The text and the kind stand under both numbers of the message,
 * and the message under both of Status: Go skips a field of the wrong type. Other readers may refuse it, so this goes to
 * Go's clients only, see `isGoClient()`.
 */
export function writeStatusError(kind: ErrorKind, message: string): UnknownField[] {
  const error = new BinaryWriter();
  error.tag(1, WireType.LengthDelimited).string(message);
  error.tag(2, WireType.Varint).int32(ERROR_KINDS[kind]);
  error.tag(1, WireType.Varint).int32(ERROR_KINDS[kind]);
  error.tag(2, WireType.LengthDelimited).string(message);
  const data = new BinaryWriter().bytes(error.finish()).finish();
  return ERROR_FIELDS.map((no) => ({ no, wireType: WireType.LengthDelimited, data }));
}

/** Whether a call comes from a client of GitLab's kind, by its `user-agent`. */
export function isGoClient(headers: Headers): boolean {
  return /(?:^|\s)grpc-go\//.test(headers.get("user-agent") ?? "");
}
