export type {
  AttemptOf,
  PipelineRecording,
  PipelineRecordingOptions,
  PlannedJob,
} from "../pipeline/pipeline-recording.ts";
