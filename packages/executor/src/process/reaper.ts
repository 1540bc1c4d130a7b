import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { coverInherited } from "@steps/platform/processes";
import { holdOpen, letGo } from "@steps/platform/runtime";
import type { PipeMaker } from "../output/fifos.ts";
import { searchPath } from "../output/search-path.ts";

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** The name under which the system lists a reaper. */
export const REAPER_NAME = "steps-reaper";

/**
 * The shell reads lines: a folder to make pipes in, or a word, a number and a folder, for work that it does not wait for. Then it reads a
 * word that all is well; without that word its user was killed. To ask for the jobs takes leave of those that have ended. A user that is
 * killed while something is done for it takes no answer: that must not end the shell.
 */
const SCRIPT = `trap '' PIPE
tell() { if [ "$2" = 0 ]; then echo "$1 1"; else echo "$1 0"; fi; }
while IFS= read -r line; do
rest=\${line#* } id=\${rest%% *} path=\${rest#* }
case $line in
/*) if mkfifo -m 600 "$line/stdout" "$line/stderr" </dev/null; then echo 1; else echo 0; fi ;;
rm\\ *) jobs >/dev/null; { rm -rf "$path"; tell "$id" $?; } </dev/null & ;;
cp\\ *) jobs >/dev/null; IFS= read -r to || break; { cp -a "$path" "$to"; tell "$id" $?; } </dev/null & ;;
*) exit ;;
esac
done
[ $# -gt 0 ] && exec "$@" </dev/null >/dev/null`;

/**
 * The variables that the program at the end may need. Steps can look at its process, so it gets no others of our
 * environment.
 */
const PASSED = [
  "HOME", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR",
  "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "CONTAINER_HOST",
]; // oxfmt-ignore

/**
 * A small process, a shell, that outlives us. If we are killed, it runs a program that ends what we have started; it knows by
 * the end of its standard input, which nobody but us holds open. Until then it makes named pipes, and copies and removes folders: one
 * process does it all, so that it costs a run no more than `mkfifo` alone. Where there is no shell, there is no reaper.
 */
export class Reaper implements PipeMaker, Disposable {
  /** The shell. Absent when it could not be started. */
  readonly #child: Child | undefined;
  readonly #waiting: ((isMade: boolean) => void)[] = [];
  readonly #works = new Map<string, (isDone: boolean) => void>();
  #lastWork = 0;
  #isOver = false;

  /** @param program that is run when we are gone, with its arguments */
  constructor(program: readonly string[]) {
    this.#child = start(program);
    if (this.#child === undefined) this.#isOver = true;
    else this.#listen(this.#child);
  }

  makePipes(dir: string): Promise<boolean> | undefined {
    return this.#ask([dir], dir, (resolve) => this.#waiting.push(resolve));
  }

  /**
   * Removes a folder with all that is in it beside what else is done, and says whether it is gone. `undefined`: it cannot be
   * asked. Never rejects.
   *
   * @param path absolute
   */
  removeTree(path: string): Promise<boolean> | undefined {
    return this.#work("rm", [path]);
  }

  /**
   * Copies a folder with all that is in it, as it is, beside what else is done, and says whether all of it was copied. `undefined`: it
   * cannot be asked. Never rejects.
   *
   * @param from absolute
   * @param to absolute, and not there yet
   */
  copyTree(from: string, to: string): Promise<boolean> | undefined {
    return this.#work("cp", [from, to]);
  }

  /** Lets it go. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#child?.stdin.end("end\n");
    this.#stop();
  }

  #work(word: string, paths: readonly string[]): Promise<boolean> | undefined {
    const id = String(++this.#lastWork);
    return this.#ask(paths, `${word} ${id} ${paths.join("\n")}`, (resolve) => this.#works.set(id, resolve));
  }

  #ask(
    paths: readonly string[],
    text: string,
    wait: (resolve: (isDone: boolean) => void) => void,
  ): Promise<boolean> | undefined {
    const child = this.#child;
    const canBeRead = paths.every((path) => path.startsWith("/") && !path.includes("\n"));
    if (this.#isOver || child === undefined || !canBeRead) return undefined;
    return new Promise((resolve) => {
      holdOpen(child.stdout);
      wait(resolve);
      child.stdin.write(`${text}\n`);
    });
  }

  #listen(child: Child): void {
    const { stdin, stdout } = child;
    let rest = "";
    stdout.setEncoding("latin1").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
      if (this.#waiting.length + this.#works.size === 0) letGo(stdout);
    });
    // There is no shell, or somebody has killed it.
    for (const source of [child, stdin, stdout]) source.on("error", () => this.#stop());
    stdout.on("close", () => this.#stop());
    child.unref();
    letGo(stdin);
    letGo(stdout);
  }

  #take(line: string): void {
    const [first = "", answer] = line.split(" ");
    if (answer === undefined) {
      this.#waiting.shift()?.(first === "1");
      return;
    }
    this.#works.get(first)?.(answer === "1");
    this.#works.delete(first);
  }

  #stop(): void {
    this.#isOver = true;
    for (const resolve of [...this.#waiting.splice(0), ...this.#works.values()]) resolve(false);
    this.#works.clear();
  }
}

function start(program: readonly string[]): Child | undefined {
  try {
    const child = spawn("sh", ["-c", SCRIPT, REAPER_NAME, ...program], {
      cwd: "/",
      env: environment(),
      // A group and a session of its own: what ends ours must not end it.
      detached: true,
      stdio: ["pipe", "pipe", "ignore", ...coverInherited()],
    }) as unknown as Child;
    // A child that did not start for want of descriptors has no pipes.
    child.on("error", () => {});
    return (child.stdout as Readable | undefined) === undefined ? undefined : child;
  } catch {
    // Maybe there is room for the step.
    return undefined;
  }
}

// Without the mark of a run that we may be a step of: that run must not end it before it has done its work.
function environment(): Record<string, string> {
  const env: Record<string, string> = { PATH: searchPath() };
  for (const name of PASSED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
