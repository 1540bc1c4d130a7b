import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { ExecuteError, readStepFile, type Run, tell } from "@steps/executor/kit";
import { type Annotation as Found, type CommandSink, isBlockedVariable } from "@steps/github-language/commands";
import { createObject, messageOf, type RuntimeString, sensitive } from "@steps/model";
import type { Annotation } from "@steps/model/event";
import type { ActionScope } from "../job/action-scope.ts";

const MAX_MATCHER_BYTES = 1024 * 1024;
const MAX_NAME_LENGTH = 1000;
/** The greatest length of all names and values that the commands of one process set, in characters. */
const MAX_CHARS = 64 * 1024 * 1024;
const MAX_PROBLEMS = 100;
/** The greatest number of secrets that one process may tell, and their greatest length in all. */
const MAX_MASKS = 5_000;
const MAX_MASK_CHARS = 4 * 1024 * 1024;

/** The effects of the commands of one process so far. */
export class CommandEffects implements CommandSink {
  readonly outputs: Record<string, string> = createObject<string>();
  readonly env: Record<string, string> = createObject<string>();
  readonly paths: string[] = [];
  readonly annotations: Annotation[] = [];
  /** Each of these messages fails the step, although its process may have succeeded. */
  readonly problems: string[] = [];
  /** Gives the path of the host for one that the process names; the same unless the process is in a container. */
  toHost: (path: string) => string = (path) => path;
  /** The reason why nothing more of the process may be shown; `undefined`: all of it may. */
  refusal: ExecuteError | undefined;
  #chars = 0;
  #masks = 0;
  #maskChars = 0;
  readonly #run: Run;
  readonly #scope: ActionScope;
  readonly #state: Map<string, string>;
  /** Names of the state as they were written, by their lower case: another case of a name is the same. */
  readonly #stateNames: Map<string, string>;

  constructor(run: Run, scope: ActionScope, state: Map<string, string>) {
    this.#run = run;
    this.#scope = scope;
    this.#state = state;
    this.#stateNames = new Map([...state.keys()].map((name) => [name.toLowerCase(), name]));
  }

  setOutput(name: string, value: string): void {
    if (name !== "" && name.length <= MAX_NAME_LENGTH && this.#fits(name, value)) this.outputs[name] = value;
  }

  saveState(name: string, value: string): void {
    if (!this.#fits(name, value)) return;
    const key = name.toLowerCase();
    const known = this.#stateNames.get(key);
    if (known !== undefined && known !== name) this.#state.delete(known);
    this.#stateNames.set(key, name);
    this.#state.set(name, value);
  }

  setEnv(name: string, value: string): void {
    if (isBlockedVariable(name)) {
      // It is told and fails nothing: there are actions that try, and succeed without.
      this.error(blockedMessage(name));
    } else if (name === "" || name.includes("=") || `${name}${value}`.includes("\0")) {
      this.problem(`${JSON.stringify(name.slice(0, 80))} cannot be a variable`);
    } else if (this.#fits(name, value)) this.env[name] = value;
  }

  addPath(path: string): void {
    if (path.includes("\0")) this.problem("A path holds a NUL character");
    else if (this.#fits(path, "")) this.paths.push(path);
  }

  addMask(values: readonly string[]): void {
    this.#masks += 1;
    this.#maskChars += values[0]?.length ?? 0;
    const isTooMuch = this.#masks > MAX_MASKS || this.#maskChars > MAX_MASK_CHARS;
    if (isTooMuch && this.refusal === undefined) {
      const what = this.#masks > MAX_MASKS ? `${MAX_MASKS} secrets` : `${MAX_MASK_CHARS} characters of secrets`;
      const message = `The step told more than ${what} by ::add-mask::; it is ended, and nothing more of it is shown`;
      this.refusal = new ExecuteError("MASKS_TOO_MANY", message);
      this.error(message);
    }
    // Other steps may know it: it is masked all the same.
    const marked = values.map((value) => sensitive(value));
    tell(this.#run, { type: "secret-found", at: Date.now(), path: this.#scope.path, values: marked });
  }

  annotate(found: Found): void {
    const { file } = found;
    const annotation = annotationOf(file === undefined ? found : { ...found, file: this.toHost(file) });
    if (annotation !== undefined) this.annotations.push(annotation);
  }

  /** Notes an error that does not fail the step. */
  error(message: string): void {
    this.annotations.push({ level: "error", message });
  }

  problem(message: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(message);
  }

  #fits(name: string, value: string): boolean {
    this.#chars += name.length + value.length;
    if (this.#chars <= MAX_CHARS) return true;
    this.problem(`The commands of the step set more than ${MAX_CHARS} characters; the rest is left out`);
    return false;
  }

  addMatcher(file: string): void {
    try {
      // It may be a pipe that nobody writes to.
      const read = readStepFile(realpathSync(resolve(this.#run.job.workDir, this.toHost(file))), MAX_MATCHER_BYTES);
      if ("problem" in read) throw new Error(read.problem);
      this.#scope.job.matchers.add(read.content.toString("utf8"), file);
    } catch (error) {
      this.problem(`Cannot read the problem matcher "${file}": ${messageOf(error)}`);
    }
  }

  /** Hands the variables and the PATH to every step to come. Returns them. */
  export(): Readonly<Record<string, RuntimeString>> {
    const { job, environment } = this.#scope;
    const exports: Record<string, RuntimeString> = createObject<RuntimeString>();
    Object.assign(exports, this.env);
    if (this.paths.length > 0) {
      // A PATH that a step declares for itself is not for others.
      const known = environment.shared("PATH") ?? "";
      // Steps that run at the same time do not see each other's: joinPaths().
      const own = this.#run.branch === undefined ? job.addPaths(this.paths) : this.paths.toReversed();
      exports["PATH"] = pathAbove(own, typeof known === "string" ? known : "");
    }
    if (Object.keys(exports).length > 0) environment.export(exports);
    return exports;
  }
}

/** The message about a variable that no step may set. */
export function blockedMessage(name: string): string {
  return `Can't store ${name} through the file of GITHUB_ENV`;
}

/** Folders in front of a PATH, each once. */
export function pathAbove(folders: readonly string[], path: string): string {
  return [...new Set([...folders, ...path.split(":").filter((folder) => folder !== "")])].join(":");
}

function annotationOf({ level, message, title, file, line, endLine, col, endColumn }: Found): Annotation | undefined {
  if (level === "debug") return undefined;
  return {
    level,
    message,
    title,
    file,
    line,
    endLine,
    column: col,
    endColumn,
  };
}
