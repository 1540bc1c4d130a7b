import { closeSync, fchmodSync, fstatSync, lstatSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readStepFile, type StepFileContent } from "@steps/executor/kit";
import { parseKeyValues, parsePathLines, SUMMARY_MAX_BYTES } from "@steps/github-language/commands";
import { isStepsError } from "@steps/model";
import { decodeUtf8 } from "@steps/model/utf8";
import { removeAny } from "./remove-any.ts";

/** Variables that name a file which the process may write to. */
const KINDS = {
  env: "GITHUB_ENV",
  output: "GITHUB_OUTPUT",
  path: "GITHUB_PATH",
  state: "GITHUB_STATE",
  summary: "GITHUB_STEP_SUMMARY",
} as const;

type Kind = keyof typeof KINDS;
type Pairs = ReadonlyArray<readonly [string, string]>;

const ALL = Object.keys(KINDS) as readonly Kind[];
const MAX_BYTES = 16 * 1024 * 1024;

/** The commands that a process wrote to its files. */
export interface FileCommands {
  readonly env: Pairs;
  readonly output: Pairs;
  readonly state: Pairs;
  readonly path: readonly string[];
  readonly summary: string;
  /** Why there is no summary although there is something in its file; that fails nothing. */
  readonly summaryProblem: string | undefined;
  /** Messages about what could not be read; the rest is taken. */
  readonly problems: readonly string[];
}

/**
 * The files of one process at a time, empty when it starts. One that nobody has written to is the next process's too: to make
 * a file takes longer than all else that is done for a short script.
 */
export class CommandFiles {
  /** The variables that name them. */
  readonly env: Readonly<Record<string, string>>;
  readonly #paths: Readonly<Record<Kind, string>>;
  /** Inodes of those that are there and were empty when they were last looked at. */
  readonly #made = new Map<Kind, number>();

  /** @param dir absolute, existing; @param tag that no other process has at the same time */
  constructor(dir: string, tag: string) {
    const path = (kind: Kind): string => join(dir, tag === "" ? kind : `${kind}_${tag}`);
    this.#paths = Object.fromEntries(ALL.map((kind) => [kind, path(kind)])) as Record<Kind, string>;
    this.env = Object.fromEntries(ALL.map((kind) => [KINDS[kind], this.#paths[kind]]));
  }

  /** Makes what is not there. */
  prepare(): void {
    for (const kind of ALL) {
      if (this.#made.has(kind)) continue;
      rmSync(this.#paths[kind], { recursive: true, force: true });
      const fd = openSync(this.#paths[kind], "wx", 0o600);
      // The process may be another user's in a container; see createDirs().
      fchmodSync(fd, 0o666);
      this.#made.set(kind, fstatSync(fd).ino);
      closeSync(fd);
    }
  }

  /** Reads what the process wrote, and removes the files that it touched. */
  take(): FileCommands {
    const problems: string[] = [];
    const parse = <T>(kind: Kind, read: (text: string) => readonly T[]): readonly T[] => {
      try {
        const file = this.#takeFile(kind, MAX_BYTES);
        if (file === undefined) return [];
        if ("content" in file) return read(decodeUtf8("the file", file.content));
        problems.push(`Unable to process file command "${kind}": ${file.problem}`);
        return [];
      } catch (error) {
        if (!isStepsError(error)) throw error;
        problems.push(`Unable to process file command "${kind}": ${error.message}`);
        return [];
      }
    };
    const env = parse("env", parseKeyValues);
    const output = parse("output", parseKeyValues);
    const state = parse("state", parseKeyValues);
    const path = parse("path", parsePathLines);
    const summary = this.#takeFile("summary", SUMMARY_MAX_BYTES);
    if (summary === undefined) return { env, output, state, path, summary: "", summaryProblem: undefined, problems };
    const text = "content" in summary ? summary.content.toString("utf8") : "";
    const summaryProblem = "content" in summary ? undefined : summary.problem;
    return { env, output, state, path, summary: text, summaryProblem, problems };
  }

  /** `undefined` for a file that has nothing to say. */
  #takeFile(kind: Kind, maxBytes: number): StepFileContent | undefined {
    const path = this.#paths[kind];
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() === true && stat.size === 0 && stat.ino === this.#made.get(kind)) return undefined;
    this.#made.delete(kind);
    // Whoever takes the file away has nothing to say.
    if (stat === undefined) return undefined;
    const file = readStepFile(path, maxBytes);
    removeAny(path);
    return file;
  }
}
