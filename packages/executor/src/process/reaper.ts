import { coverInherited } from "@steps/platform/processes";
import { type Helper, startHelper } from "@steps/platform/runtime";
import type { PipeMaker } from "../output/fifos.ts";
import { searchPath } from "../output/search-path.ts";

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
  readonly #shell: Helper | undefined;
  readonly #waiting: ((isMade: boolean) => void)[] = [];
  readonly #works = new Map<string, (isDone: boolean) => void>();
  #lastWork = 0;
  #rest = "";
  #isOver = false;

  /** @param program that is run when we are gone, with its arguments */
  constructor(program: readonly string[]) {
    this.#shell = startHelper({
      command: ["sh", "-c", SCRIPT, REAPER_NAME, ...program],
      env: environment(),
      inherited: coverInherited(),
      onText: (text) => this.#read(text),
      onEnd: () => this.#stop(),
    });
    if (this.#shell === undefined) this.#isOver = true;
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
    this.#shell?.end("end\n");
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
    const shell = this.#shell;
    const canBeRead = paths.every((path) => path.startsWith("/") && !path.includes("\n"));
    if (this.#isOver || shell === undefined || !canBeRead) return undefined;
    return new Promise((resolve) => {
      wait(resolve);
      shell.ask(`${text}\n`);
    });
  }

  #read(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
    if (this.#waiting.length + this.#works.size === 0) this.#shell?.rest();
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

// Without the mark of a run that we may be a step of: that run must not end it before it has done its work.
function environment(): Record<string, string> {
  const env: Record<string, string> = { PATH: searchPath() };
  for (const name of PASSED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
