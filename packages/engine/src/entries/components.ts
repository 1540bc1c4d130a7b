export { type ComponentSource, parseComponentSource, type SourceProblem } from "../components/component-source.ts";
export { formatLock, type Lock, type LockedComponent, lockedOf, parseLock } from "../components/lock.ts";
