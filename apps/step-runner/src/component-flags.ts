import { statSync } from "node:fs";
import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
import { type ComponentSource, type Lock, parseComponentSource, parseLock } from "@steps/engine";
import { readText } from "./read-source.ts";

/** The lock where none is named. */
export const LOCK_FILE = "steps.lock";
const MAX_LOCK_BYTES = 64 * 1024 * 1024;

/** Flags of everything that loads steps: where some components come from instead. */
export const sourceFlags: Flags = grouped("Components", {
  "component-source": {
    type: "list",
    placeholder: "REF=PATH|URL",
    summary:
      "Take a repository, archive or image, or all that begins with REF, from a folder or another URL; repeat for more",
    env: "STEP_RUNNER_COMPONENT_SOURCE",
    separator: /[\s,]+(?=[^\s,=]+=)/,
  },
  "action-source": {
    type: "list",
    placeholder: "owner/repo[@REF]=PATH|URL",
    summary:
      "Take a GitHub action from a folder or another URL; a URL alone stands for all of github.com; repeat for more",
    env: "STEP_RUNNER_ACTION_SOURCE",
    separator: /\s+(?=[^\s=]+=|[a-z][a-z0-9+.-]*:\/\/)/i,
  },
});

export const lockFile: Flags = {
  "lock-file": {
    type: "string",
    placeholder: "FILE",
    summary: "The lock",
    default: LOCK_FILE,
    env: "STEP_RUNNER_LOCK_FILE",
  },
};

/** Flags of everything that may be held to a lock. */
export const lockFlags: Flags = grouped("Components", {
  locked: {
    type: "boolean",
    summary: "Use exactly the components that the lock names, and no others",
    env: "STEP_RUNNER_LOCKED",
  },
  ...lockFile,
});

/**
 * Reads the values of `--component-source` and `--action-source`. One variable may hold several, separated by blanks.
 * @throws {UsageError}
 */
export function readSources(line: CommandLine): readonly ComponentSource[] {
  return sourceTexts(line).map(({ flag, given, text }) => {
    const source = parseComponentSource(text, process.cwd());
    if ("message" in source) throw new UsageError(`--${flag} is "${given}": ${source.message}`);
    return source;
  });
}

/** The sources as texts that mean the same in any directory: for a step-runner that a job starts. */
export function absoluteSources(line: CommandLine): string {
  const texts = sourceTexts(line).map(({ text }) => text.slice(0, text.indexOf("=") + 1));
  return readSources(line)
    .map(({ target }, i) => `${texts[i] ?? ""}${target}`)
    .join(" ");
}

interface SourceText {
  readonly flag: string;
  readonly given: string;
  /** `LOCATION=TARGET` */
  readonly text: string;
}

function sourceTexts(line: CommandLine): SourceText[] {
  const components = line.list("component-source").map((given) => {
    return { flag: "component-source", given, text: given };
  });
  const actions = line.list("action-source").map((given) => {
    return { flag: "action-source", given, text: actionSource(given) };
  });
  return [...components, ...actions];
}

// A repository belongs to github.com unless another host is named.
function actionSource(given: string): string {
  const isMirror = /^[a-z][a-z0-9+.-]*:\/\/[^=]*$/i.test(given);
  if (isMirror) return `github.com/=${given}`;
  return /^[^/=]+\/[^/=]+=/.test(given) ? `github.com/${given}` : given;
}

/** The lock that the job is held to, if it is. @throws {UsageError} @throws {EngineError} LOCK_INVALID */
export function readLock(line: CommandLine): Lock | undefined {
  if (!line.boolean("locked")) return undefined;
  const name = line.string("lock-file") ?? LOCK_FILE;
  try {
    if (statSync(name).size > MAX_LOCK_BYTES) throw new UsageError(`The lock "${name}" is too large`);
    return parseLock(name, readText(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new UsageError(`There is no lock "${name}"`, "step-runner lock writes one.");
  }
}
