import { writeWhole } from "@steps/console/terminal";
import { encodeTrace } from "@steps/trace";
import { encodePipelineTrace } from "@steps/trace/pipeline";

type Trace = Parameters<typeof encodeTrace>[0];
type PipelineTrace = Parameters<typeof encodePipelineTrace>[0];

/** Writes a trace as JSON; readable by its owner and group only, since outputs of steps are in it. */
export function writeTrace(path: string, trace: Trace): void {
  writeWhole(path, encodeTrace(trace));
}

/** Writes the trace of a pipeline in the same way. */
export function writePipelineTrace(path: string, trace: PipelineTrace): void {
  writeWhole(path, encodePipelineTrace(trace));
}
