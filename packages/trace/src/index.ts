// Recording a run, and the files that traces and results are. Masking, the journal and comparison have entries of their own.
export { createRecorder, type Recorder } from "./record.ts";
export { FORMAT_VERSION } from "./encode-run.ts";
export type { TraceOptions } from "./trace-integrity.ts";
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
export { listSteps } from "./list-steps.ts";
export { plainValue } from "./plain.ts";
export { formatDuration, formatTrace } from "./show.ts";
export type { FormatOptions } from "./tree-line.ts";
