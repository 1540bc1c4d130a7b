export { checkCalls } from "../check/check-calls.ts";
export type { CheckDiagnostic } from "../check/check-rules.ts";
export type { LoadDiagnostic } from "../engine-error.ts";
export { type ComponentSource, parseComponentSource, type SourceProblem } from "../components/component-source.ts";
export { checkFirstStep } from "../step-source.ts";
export { formatLock, type Lock, type LockedComponent, lockedOf, parseLock } from "../components/lock.ts";
