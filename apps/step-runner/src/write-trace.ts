import { writeWhole } from "@steps/console/terminal";
import { encodeTrace } from "@steps/trace";

type Trace = Parameters<typeof encodeTrace>[0];

/** Writes a trace as JSON; readable by its owner and group only, since outputs of steps are in it. */
export function writeTrace(path: string, trace: Trace): void {
  writeWhole(path, encodeTrace(trace));
}
