import { readFileSync } from "node:fs";

/** Variables that a shell keeps for itself, and the job itself. */
const OWN_OF_SHELLS: ReadonlySet<string> = new Set(["PWD", "OLDPWD", "SHLVL", "_", "STEPS"]);
const MAX_ENVIRON_BYTES = 8 * 1024 * 1024;

/**
 * The variables that the shell which called this program has set or changed since it began. GitLab's runner hands the
 * variables of a job over so, by a script of `export` lines, wherever it does not use our service (its executors `ssh` and
 * `shell`); their names are listed nowhere. Empty where the caller's first environment cannot be read.
 */
export function variablesOfShell(env: NodeJS.ProcessEnv, parentPid: number = process.ppid): Record<string, string> {
  const first = firstEnvironment(parentPid);
  if (first === undefined) return {};
  const isNew = (name: string): boolean =>
    !OWN_OF_SHELLS.has(name) && !name.startsWith("STEP_RUNNER_") && first.get(name) !== env[name];
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => isNew(entry[0])));
}

/**
 * Returns the environment that a process was started with; the system does not show variables that were set afterwards.
 */
function firstEnvironment(pid: number): ReadonlyMap<string, string> | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/environ`).subarray(0, MAX_ENVIRON_BYTES).toString("utf8");
  } catch {
    return undefined;
  }
  // A process that shows nothing has hidden it, as ours does: all of its variables would look new.
  if (text === "") return undefined;
  return new Map(
    text.split("\0").flatMap((entry) => {
      const at = entry.indexOf("=");
      return at < 1 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
    }),
  );
}
