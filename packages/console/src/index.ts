export { type Command, defineCommand, type Settings, type SettingsCall } from "./command.ts";
export { describeFailure, type FailureRules } from "./failure.ts";
export * as flag from "./flag-kinds.ts";
export { converted, type Flag, type Flags, grouped, type OptionsOf } from "./flag.ts";
export { formatHelp, groupFlags } from "./help.ts";
export { parseCommandLine } from "./parse-command-line.ts";
export { type Program, runProgram } from "./run-program.ts";
export { UsageError } from "./usage-error.ts";
