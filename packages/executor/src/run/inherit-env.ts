import {
  createObject,
  type Environment,
  type EnvironmentRecord,
  matchesVariable,
  MINIMAL_ENV_NAMES,
  type RuntimeString,
} from "@steps/model";
import type { Level } from "./level.ts";
import { type Run, tell } from "./run.ts";

/**
 * The environment of a step that says what it inherits (`steps-language` C25): of what its caller has below all that is
 * declared and exported, the minimal names and those that match. A step of the user's own gets variables of the runner's
 * environment too if it names them; one that was fetched from elsewhere gets what its caller has and no more.
 */
export function inheritEnvironment(run: Run, level: Level, patterns: readonly string[] | undefined): Environment {
  const { environment, root, path } = level;
  if (patterns === undefined) return environment;
  const base = createObject<RuntimeString>();
  const names = [...MINIMAL_ENV_NAMES, ...patterns];
  for (const [name, value] of Object.entries(environment.base)) {
    if (matchesVariable(name, names)) base[name] = value;
  }
  if (root !== undefined) return environment.above(base);
  for (const [name, value] of Object.entries(run.job.offeredEnv ?? {})) {
    if (Object.hasOwn(base, name) || !matchesVariable(name, patterns)) continue;
    base[name] = value;
    tell(run, { type: "variable-read", at: Date.now(), path, name, value, isInherited: true });
  }
  return environment.above(base);
}

/** How many variables of the runner's environment a process does not get. */
export function countDenied(run: Run, env: EnvironmentRecord): number {
  const { environment, job } = run;
  const known = new Set([...Object.keys(environment.base), ...Object.keys(job.offeredEnv ?? {})]);
  let count = 0;
  for (const name of known) if (!Object.hasOwn(env, name)) count++;
  return count;
}
