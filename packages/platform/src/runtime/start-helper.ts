import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { bun, type BunEngine } from "./engine.ts";
import { holdOpen, letGo } from "./hold-open.ts";
import { spawn } from "./lazy-modules.ts";

/** A program that works for this process, and is asked by texts. */
export interface HelperOrder {
  /** A name that is on the path of `env`, and the arguments. */
  readonly command: readonly [program: string, ...args: string[]];
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** The descriptors from 3 on. */
  readonly inherited: readonly ("ignore" | number)[];
  /** Takes what it writes, as Latin-1, in any pieces. */
  readonly onText: (text: string) => void;
  /** It is gone, or hears nothing any more. May be called more than once, and perhaps not before something is asked of it. */
  readonly onEnd: () => void;
}

/** A helper that was started, in a session of its own. It keeps this process alive from a question to `rest()`. */
export interface Helper {
  ask(text: string): void;
  /** No answer is waited for. */
  rest(): void;
  /** Says the last word to it. */
  end(text: string): void;
}

/** Starts a helper with its standard input and output as pipes to this process. `undefined` when it cannot be started. */
export function startHelper(order: HelperOrder): Helper | undefined {
  try {
    return bun === undefined ? startChild(order) : startDirectly(bun, order);
  } catch {
    return undefined;
  }
}

function startChild({ command, env, inherited, onText, onEnd }: HelperOrder): Helper | undefined {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd: "/",
    env,
    detached: true,
    stdio: ["pipe", "pipe", "ignore", ...inherited],
  }) as unknown as ChildProcessByStdio<Writable, Readable, null>;
  // A child that did not start for want of descriptors has no pipes.
  child.on("error", onEnd);
  const { stdin, stdout } = child;
  if ((stdout as Readable | undefined) === undefined) return undefined;
  stdout.setEncoding("latin1").on("data", onText);
  // There is no such program, or somebody has killed it.
  for (const source of [stdin, stdout]) source.on("error", onEnd);
  stdout.on("close", onEnd);
  child.unref();
  letGo(stdin);
  letGo(stdout);
  return {
    ask(text) {
      holdOpen(stdout);
      stdin.write(text);
    },
    rest: () => letGo(stdout),
    end: (text) => void stdin.end(text),
  };
}

function startDirectly(engine: BunEngine, { command, env, inherited, onText, onEnd }: HelperOrder): Helper {
  const stdio = ["pipe", "pipe", "ignore", ...inherited] as const;
  const child = engine.spawn(command, { cwd: "/", env, detached: true, stdio, onExit: () => {} });
  const { stdin, stdout } = child;
  const state = { isAsked: false, isRead: false };
  const lose = (): void => {
    child.unref();
    onEnd();
  };
  // A child that is waited for keeps this process alive, and so does a read after that: there is one only while an answer is due.
  const read = async (): Promise<void> => {
    if (state.isRead) return;
    state.isRead = true;
    const reader = stdout.getReader();
    try {
      while (state.isAsked) {
        const { done, value } = await reader.read();
        if (done) return lose();
        onText(Buffer.from(value).toString("latin1"));
      }
    } catch {
      lose();
    } finally {
      state.isRead = false;
      reader.releaseLock();
    }
  };
  // A sink throws at once or fails later when nobody reads.
  const attempt = (write: () => number | Promise<number>): void => {
    try {
      Promise.resolve(write()).catch(lose);
    } catch {
      lose();
    }
  };
  const say = (text: string): void => {
    attempt(() => stdin.write(text));
    attempt(() => stdin.flush());
  };
  child.unref();
  return {
    ask(text) {
      state.isAsked = true;
      child.ref();
      say(text);
      void read();
    },
    rest() {
      state.isAsked = false;
      child.unref();
    },
    end(text) {
      say(text);
      attempt(() => stdin.end());
    },
  };
}
