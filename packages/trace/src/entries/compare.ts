export {
  compareTraces,
  type CompareOptions,
  type Comparison,
  type Difference,
  type Severity,
  type StepVerdict,
  type Verdict,
} from "../compare.ts";
export { normaliseLog } from "../normalise-log.ts";
