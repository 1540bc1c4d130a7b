export { DrainSignals } from "../operation/drain-signals.ts";
export { type LogOptions, openLog } from "../operation/open-log.ts";
export { CLEAR_LINE, OutputWriter } from "../output-writer.ts";
export { StopSignals } from "../stop-signals.ts";
export {
  complain,
  errors,
  hurryOutput,
  output,
  print,
  progressMode,
  type ProgressMode,
  programName,
  setOverlay,
  type Terminal,
  terminalOf,
} from "../terminal.ts";
export { harmless } from "../terminal-text.ts";
export { assertWritable, writeWhole } from "../write-whole.ts";
