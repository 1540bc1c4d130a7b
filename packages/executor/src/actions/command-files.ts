import { closeSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { parseKeyValues, parsePathLines, SUMMARY_MAX_BYTES } from "@steps/github-language";
import { isStepsError } from "@steps/model";
import { readStepFile } from "../read-step-file.ts";

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

const MAX_BYTES = 16 * 1024 * 1024;

/** What a process wrote to its files. */
export interface FileCommands {
  readonly env: Pairs;
  readonly output: Pairs;
  readonly state: Pairs;
  readonly path: readonly string[];
  readonly summary: string;
  /** What could not be read; the rest is taken. */
  readonly problems: readonly string[];
}

/** The fresh, empty files of one process. Their names are the same in every run, and no other process has them. */
export class CommandFiles {
  /** The variables that name them. */
  readonly env: Readonly<Record<string, string>>;
  readonly #paths: Readonly<Record<Kind, string>>;

  /** @param dir absolute, existing; @param stepPath of the step in the trace */
  constructor(dir: string, stepPath: string) {
    const tag = stepPath.replaceAll("/", ".");
    const kinds = Object.keys(KINDS) as Kind[];
    this.#paths = Object.fromEntries(kinds.map((kind) => [kind, join(dir, `${kind}_${tag}`)])) as Record<Kind, string>;
    this.env = Object.fromEntries(kinds.map((kind) => [KINDS[kind], this.#paths[kind]]));
    for (const path of Object.values(this.#paths)) {
      removeFile(path);
      closeSync(openSync(path, "wx", 0o600));
    }
  }

  read(): FileCommands {
    const problems: string[] = [];
    const text = (kind: Kind, maxBytes: number): string => {
      const file = readStepFile(this.#paths[kind], maxBytes);
      if ("content" in file) return file.content.toString("utf8");
      problems.push(`Unable to process file command "${kind}": ${file.problem}`);
      return "";
    };
    const parse = <T>(kind: Kind, read: (text: string) => readonly T[]): readonly T[] => {
      try {
        return read(text(kind, MAX_BYTES));
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
    return { env, output, state, path, summary: text("summary", SUMMARY_MAX_BYTES), problems };
  }

  remove(): void {
    for (const path of Object.values(this.#paths)) removeFile(path);
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    // Not there, or made a folder of; the whole folder goes when the job ends.
    void cause;
  }
}
