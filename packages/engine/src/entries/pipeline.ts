export type {
  AttemptOf,
  AttemptResult,
  PipelineRecording,
  PipelineRecordingOptions,
  PlannedJob,
} from "../pipeline/pipeline-recording.ts";
