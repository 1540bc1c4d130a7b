// The words that most packages use. The rest is in entries by concept, such as `@steps/model/reference`.
export { isStepsError, messageOf, StepsError } from "./error.ts";
export type { IncludedFile, Job, RunMode } from "./job.ts";
export { checkOptionNames, type OptionNames } from "./option-names.ts";
export { exitCodeOf, type Outcome, type Status, type StepFailure } from "./status.ts";
export { MAX_TIMER_MS } from "./timer.ts";
export {
  createObject,
  isSensitive,
  mapObject,
  reveal,
  revealString,
  type RuntimeString,
  type RuntimeValue,
  Sensitive,
  sensitive,
  type Value,
  type ValueType,
} from "./value/value.ts";
export { withDefaults } from "./with-defaults.ts";
