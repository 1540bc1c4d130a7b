import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** How to start a program, and how to know that it is ready. */
export interface ProgramOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its working directory, which has its log too. */
  readonly dir: string;
  /** Is in its log when it is ready. */
  readonly ready: RegExp;
}

const PATIENCE_MS = 240_000;

/** A program that is killed and started again, any number of times. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #log: string;
  #child: ChildProcess | undefined;
  /** Each time that it ended although nobody had killed it: how, and what it had said. */
  readonly crashes: string[] = [];

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.#log = join(options.dir, `${options.name}.log`);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Starts it, and waits until it is ready. One that ends before that is started again, as by a service manager. */
  async start(): Promise<void> {
    for (const end = performance.now() + PATIENCE_MS; !(await this.#attempt(end)); await sleep(300))
      if (performance.now() > end) throw new Error(`${this.name} does not start: ${this.tail()}`);
  }

  async #attempt(end: number): Promise<boolean> {
    const { command, args, env, dir } = this.#options;
    const log = openSync(this.#log, "a");
    const before = readFileSync(this.#log, "utf8").length;
    const child = spawn(command, args, { cwd: dir, env, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#child = child;
    const isReady = await this.#isReady(child, before, end);
    if (isReady)
      child.once("exit", (code, signal) => {
        if (this.#child === child) this.crashes.push(`${code ?? signal}: ${this.tail()}`);
      });
    return isReady;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** The end of its log, for a failure. */
  tail(): string {
    return readFileSync(this.#log, "utf8").slice(-2000);
  }

  async #isReady(child: ChildProcess, from: number, end: number): Promise<boolean> {
    const { ready } = this.#options;
    while (child.exitCode === null && child.signalCode === null && performance.now() < end) {
      if (ready.test(readFileSync(this.#log, "utf8").slice(from))) return true;
      await sleep(50);
    }
    return false;
  }
}
