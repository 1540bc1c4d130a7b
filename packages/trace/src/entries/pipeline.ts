export {
  assertPipelineReplayable,
  decodePipelineTrace,
  encodePipelineTrace,
  isPipelineTrace,
  verifyPipelineTrace,
} from "../pipeline/encode-pipeline.ts";
export { fullName } from "../pipeline/full-name.ts";
export type { PipelineJournalEvent, PipelineLanguage } from "../pipeline/pipeline-journal-event.ts";
export {
  createPipelineJournal,
  parsePipelineJournal,
  type PipelineJournalWriter,
} from "../pipeline/pipeline-journal.ts";
export { PIPELINE_FORMAT_VERSION } from "../pipeline/encode-recorded-pipeline.ts";
export { createPipelineRecorder, type PipelineRecorder } from "../pipeline/pipeline-recorder.ts";
export { NameMasker, redactEnd } from "../pipeline/redact-pipeline.ts";
export { formatPipelineMarkdown, formatTraceMarkdown } from "../show-markdown.ts";
export { formatPipelineTrace, jobsNamed } from "../pipeline/show-pipeline.ts";
