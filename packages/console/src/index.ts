export {
  type Command,
  type CommandLine,
  type Flag,
  type Flags,
  type FlagType,
  grouped,
  UsageError,
} from "./command.ts";
export { describeFailure, type FailureRules } from "./failure.ts";
export { formatHelp, groupFlags } from "./help.ts";
export { CLEAR_LINE, OutputWriter } from "./output-writer.ts";
export { parseCommandLine, readPairs } from "./parse-command-line.ts";
export { readSecrets } from "./read-secrets.ts";
export { type Program, runProgram } from "./run-program.ts";
export { complain, errors, hurryOutput, output, print, programName, type Terminal, terminalOf } from "./terminal.ts";
export { assertWritable, writeWhole } from "./write-whole.ts";
