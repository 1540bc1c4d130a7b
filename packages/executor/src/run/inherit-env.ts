import { createObject, type RuntimeString } from "@steps/model";
import { type Environment, type EnvironmentRecord, matchesVariable, MINIMAL_ENV_NAMES } from "@steps/model/environment";
import type { Level } from "./level.ts";
import { type Run, tell } from "./run.ts";

/**
 * Returns the environment of a step that says what it inherits (conformance section 20 C25): the minimal names and those that
 * match, from the environment of its caller below all that is declared and exported. A step of the user's own also gets the
 * variables of the runner's environment that it names; a step that was fetched gets nothing beyond its caller's.
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

/** Returns the number of variables of the runner's environment that a process does not get. */
export function countDenied(run: Run, env: EnvironmentRecord): number {
  const { base } = run.environment;
  let count = 0;
  for (const name of Object.keys(base)) if (!Object.hasOwn(env, name)) count++;
  for (const name of Object.keys(run.job.offeredEnv ?? {}))
    if (!Object.hasOwn(base, name) && !Object.hasOwn(env, name)) count++;
  return count;
}
