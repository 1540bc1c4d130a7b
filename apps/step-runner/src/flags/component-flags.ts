import { statSync } from "node:fs";
import { converted, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { type ComponentSource, type Lock, parseComponentSource, parseLock } from "@steps/engine/components";
import { readText } from "../files/read-source.ts";

/** The lock where none is named. */
const LOCK_FILE = "steps.lock";
const MAX_LOCK_BYTES = 64 * 1024 * 1024;

/** A source for components as a flag names it. */
export interface NamedSource {
  /** `LOCATION=TARGET`, where a path is absolute, so that it means the same in any directory. */
  readonly text: string;
  readonly source: ComponentSource;
}

/** Flags of everything that loads steps: where some components come from instead. */
export const sourceFlags = grouped("Components", {
  "component-source": converted(
    flag.list({
      placeholder: "REF=PATH|URL",
      summary:
        "Take a repository, archive or image, or all that begins with REF, from a folder or another URL; repeat for more",
      env: "STEP_RUNNER_COMPONENT_SOURCE",
      separator: /[\s,]+(?=[^\s,=]+=)/,
    }),
    (texts, name) => texts.map((text) => parseSource(name, text, text)),
  ),
  "action-source": converted(
    flag.list({
      placeholder: "owner/repo[@REF]=PATH|URL",
      summary:
        "Take a GitHub action from a folder or another URL; a URL alone stands for all of github.com; repeat for more",
      env: "STEP_RUNNER_ACTION_SOURCE",
      separator: /\s+(?=[^\s=]+=|[a-z][a-z0-9+.-]*:\/\/)/i,
    }),
    (texts, name) => texts.map((text) => parseSource(name, text, actionSource(text))),
  ),
});

/** The options that give components other sources. */
export type SourceOptions = OptionsOf<typeof sourceFlags>;

export const lockFile = {
  "lock-file": flag.text({
    placeholder: "FILE",
    summary: "The lock",
    default: LOCK_FILE,
    env: "STEP_RUNNER_LOCK_FILE",
  }),
};

/** Flags of everything that may be held to a lock. */
export const lockFlags = grouped("Components", {
  locked: flag.boolean({
    summary: "Use exactly the components that the lock names, and no others",
    env: "STEP_RUNNER_LOCKED",
  }),
  ...lockFile,
});

/** The options that name the lock that a job is held to. */
export type LockOptions = OptionsOf<typeof lockFlags>;

/** All sources that were given. */
export function sourcesOf({ componentSource = [], actionSource = [] }: Partial<SourceOptions>): readonly NamedSource[] {
  return [...componentSource, ...actionSource];
}

function parseSource(flagName: string, given: string, text: string): NamedSource {
  const source = parseComponentSource(text, process.cwd());
  if ("message" in source) throw new UsageError(`--${flagName} is "${given}": ${source.message}`);
  return { text: `${text.slice(0, text.indexOf("=") + 1)}${source.target}`, source };
}

// A repository belongs to github.com unless another host is named.
function actionSource(given: string): string {
  const isMirror = /^[a-z][a-z0-9+.-]*:\/\/[^=]*$/i.test(given);
  if (isMirror) return `github.com/=${given}`;
  return /^[^/=]+\/[^/=]+=/.test(given) ? `github.com/${given}` : given;
}

/** The lock that the job is held to, if it is. @throws {UsageError} @throws {EngineError} LOCK_INVALID */
export function readLock({ locked = false, lockFile: name = LOCK_FILE }: Partial<LockOptions>): Lock | undefined {
  if (!locked) return undefined;
  try {
    if (statSync(name).size > MAX_LOCK_BYTES) throw new UsageError(`The lock "${name}" is too large`);
    return parseLock(name, readText(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new UsageError(`There is no lock "${name}"`, "step-runner lock writes one.");
  }
}
