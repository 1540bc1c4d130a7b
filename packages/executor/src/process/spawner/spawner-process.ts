import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { coverInherited } from "@steps/platform/processes";
import { holdOpen, letGo, spawn } from "@steps/platform/runtime";
import type { OutputPipes } from "../../output/output-pipes.ts";
import { lostError, type NotSpawned, type Spawned, type SpawnedEnd, type SpawnOrder } from "./spawned.ts";
import { runSpawner, SPAWNER_TITLE, type SpawnerAnswer, type SpawnRequest } from "./spawner-program.ts";

/** More is not worth its memory. */
const MAX_REQUEST_CHARS = 256 * 1024;
const NODE_OPTIONS = ["--max-semi-space-size=1", "--v8-pool-size=0"];

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Pending {
  readonly started: (answer: number | "refused" | "lost") => void;
  readonly ended: (end: SpawnedEnd) => void;
}

/** The small process that starts others for us. Until it is ready, and when it is lost, it starts nothing. */
export class SpawnerProcess {
  readonly #pending = new Map<number, Pending>();
  readonly #child: Child;
  readonly #gone: Promise<void>;
  #lastId = 0;
  #isReady = false;

  /** @param node the program that runs it */
  constructor(node: string) {
    const child = start(node);
    this.#child = child;
    this.#gone = new Promise((resolve) => {
      child.on("exit", () => resolve());
      child.on("error", () => {
        if (child.pid === undefined) resolve();
      });
    });
    this.#listen();
  }

  /** `undefined`, at once or after it was tried: nothing was started, and the caller may do it. */
  spawn(order: SpawnOrder, pipes: OutputPipes): Promise<Spawned | NotSpawned | undefined> | undefined {
    if (pipes.streams === undefined || !this.#isReady) return undefined;
    const id = ++this.#lastId;
    const text = JSON.stringify(requestOf(id, order, pipes));
    return text.length > MAX_REQUEST_CHARS ? undefined : this.#ask(id, text, pipes);
  }

  /** Ends it; when this is fulfilled nothing of it is left. */
  async close(): Promise<void> {
    this.#child.ref();
    this.#child.kill("SIGKILL");
    await this.#gone;
  }

  async #ask(id: number, text: string, pipes: OutputPipes): Promise<Spawned | NotSpawned | undefined> {
    const started = Promise.withResolvers<number | "refused" | "lost">();
    const exit = Promise.withResolvers<SpawnedEnd>();
    this.#add(id, { started: started.resolve, ended: exit.resolve });
    this.#child.stdin.write(`${text}\n`);
    const answer = await started.promise;
    if (answer === "refused") return undefined;
    pipes.closeWriters();
    if (answer === "lost" || pipes.streams === undefined) return { spawnError: lostError() };
    return { pid: answer, exit: exit.promise, streams: pipes.streams };
  }

  #listen(): void {
    const child = this.#child;
    let rest = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as SpawnerAnswer);
    });
    // Its last words have been read by then.
    child.stdout.on("close", () => this.#lose());
    child.stdin.on("error", () => {});
    child.unref();
    letGo(child.stdin);
    letGo(child.stdout);
  }

  #take(answer: SpawnerAnswer): void {
    if ("isReady" in answer) {
      this.#isReady = true;
      return;
    }
    const pending = this.#pending.get(answer.id);
    if ("pid" in answer) {
      pending?.started(answer.pid);
      return;
    }
    this.#remove(answer.id);
    if ("isRefused" in answer) pending?.started("refused");
    else if (answer.signal !== null) pending?.ended({ signal: answer.signal });
    else pending?.ended({ exitCode: answer.exitCode ?? 0 });
  }

  #lose(): void {
    this.#isReady = false;
    this.#child.kill("SIGKILL");
    for (const [id, { started, ended }] of this.#pending) {
      this.#remove(id);
      started("lost");
      ended({ spawnError: lostError() });
    }
  }

  #add(id: number, pending: Pending): void {
    this.#pending.set(id, pending);
    holdOpen(this.#child.stdout);
  }

  #remove(id: number): void {
    this.#pending.delete(id);
    if (this.#pending.size === 0) letGo(this.#child.stdout);
  }
}

function start(node: string): Child {
  return spawn(node, [...NODE_OPTIONS, "-e", `(${String(runSpawner)})("${SPAWNER_TITLE}")`], {
    cwd: "/",
    env: environment(),
    stdio: ["pipe", "pipe", "ignore", ...coverInherited()],
  }) as unknown as Child;
}

function requestOf(id: number, { program, command, workDir, env }: SpawnOrder, { paths }: OutputPipes): SpawnRequest {
  const [argv0 = "", ...args] = command;
  const [stdout = "", stderr = ""] = paths;
  return { id, program, argv0, args, cwd: workDir, env, stdout, stderr };
}

// Without the mark of a run that we may be a step of: whoever looks for what a step left must not find it.
function environment(): Record<string, string> {
  const libraries = process.env["LD_LIBRARY_PATH"];
  return libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries };
}
