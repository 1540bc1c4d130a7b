import { readFileSync, statSync } from "node:fs";
import { type CommandLine, type Flags, UsageError } from "@steps/console";
import { type ComponentSource, type Lock, parseComponentSource, parseLock } from "@steps/engine";

/** The lock where none is named. */
export const LOCK_FILE = "steps.lock";
const MAX_LOCK_BYTES = 64 * 1024 * 1024;

/** Flags of everything that loads steps: where some components come from instead. */
export const sourceFlags: Flags = {
  "component-source": {
    type: "list",
    placeholder: "REF=PATH|URL",
    summary:
      "Take a repository, archive or image, or all that begins with REF, from a folder or another URL; repeat for more",
    env: "STEP_RUNNER_COMPONENT_SOURCE",
  },
};

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
export const lockFlags: Flags = {
  locked: {
    type: "boolean",
    summary: "Use exactly the components that the lock names, and no others",
    env: "STEP_RUNNER_LOCKED",
  },
  ...lockFile,
};

/** What `--component-source` says. Several stand in one variable, apart by blanks or commas. @throws {UsageError} */
export function readSources(line: CommandLine): readonly ComponentSource[] {
  return sourceTexts(line).map((text) => {
    const source = parseComponentSource(text, process.cwd());
    if ("message" in source) throw new UsageError(`--component-source is "${text}": ${source.message}`);
    return source;
  });
}

/** The sources as texts that mean the same in any directory: for a step-runner that a job starts. */
export function absoluteSources(line: CommandLine): string {
  const texts = sourceTexts(line).map((text) => text.slice(0, text.indexOf("=") + 1));
  return readSources(line)
    .map(({ target }, i) => `${texts[i] ?? ""}${target}`)
    .join(" ");
}

function sourceTexts(line: CommandLine): string[] {
  return line
    .list("component-source")
    .flatMap((text) => text.split(/[\s,]+(?=[^\s,=]+=)/))
    .map((text) => text.trim())
    .filter((text) => text !== "");
}

/** The lock that the job is held to, if it is. @throws {UsageError} @throws {EngineError} LOCK_INVALID */
export function readLock(line: CommandLine): Lock | undefined {
  if (!line.boolean("locked")) return undefined;
  const name = line.string("lock-file") ?? LOCK_FILE;
  try {
    if (statSync(name).size > MAX_LOCK_BYTES) throw new UsageError(`The lock "${name}" is too large`);
    return parseLock(name, readFileSync(name, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new UsageError(`There is no lock "${name}"`, "step-runner lock writes one.");
  }
}
