export { createMasker, MASK, type Masker, type MaskOptions, type SecretOrigin } from "./mask.ts";
export type { MaskStream } from "./mask-stream.ts";
export { createRedactor, type Redactor } from "./redact.ts";
export { redactAgain } from "./redact-again.ts";
export * from "./journal-event.ts";
export { createJournal, parseJournal, type JournalWriter, type ParsedJournal } from "./journal.ts";
export { createRecorder, FORMAT_VERSION, type Recorder, type TraceOptions } from "./record.ts";
export { TraceError, type TraceErrorCode } from "./error.ts";
export { createResultTree, type ResultTree } from "./result.ts";
export {
  assertReplayable,
  decodeResult,
  decodeShown,
  decodeTrace,
  encodePrototext,
  encodeTrace,
  verifyTrace,
} from "./encode.ts";
export { jobOf, pinsOf, type MissingValue, type Pins, type RecordedJob } from "./pin.ts";
export {
  compareTraces,
  type CompareOptions,
  type Comparison,
  type Difference,
  type Severity,
  type StepVerdict,
  type Verdict,
} from "./compare.ts";
export { normaliseLog } from "./normalise-log.ts";
export { formatDuration, formatTrace, type FormatOptions } from "./show.ts";
