import type { ChildProcess } from "node:child_process";

/** The end of a process, with everything that it wrote. */
export interface EndedProcess {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs, as a test sees it. */
export interface WatchedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<EndedProcess>;
  /** Fulfilled when the text was written to either stream; rejected when the process ended without. */
  readonly printed: (text: string) => Promise<void>;
}

/**
 * Collects the output of a process whose streams are pipes.
 *
 * @param patienceMs the time after its end in which a process that it left behind may still write, in milliseconds.
 * Default: until nobody holds the pipes
 */
export function watchProcess(child: ChildProcess, patienceMs?: number): WatchedProcess {
  const texts = { stdout: "", stderr: "" };
  const waiting = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<EndedProcess>((fulfil, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => fulfil({ code, signal, ...texts }));
    child.on("exit", (code, signal) => {
      if (patienceMs !== undefined) setTimeout(() => fulfil({ code, signal, ...texts }), patienceMs).unref();
    });
  });
  const printed = (text: string): Promise<void> =>
    new Promise((fulfil, reject) => {
      const look = (): void => {
        if (!texts.stdout.includes(text) && !texts.stderr.includes(text)) return;
        waiting.delete(look);
        fulfil();
      };
      waiting.add(look);
      look();
      ended.then((end) => reject(new Error(`It ended without "${text}": ${JSON.stringify(end)}`)), reject);
    });
  return { child, pid: child.pid ?? 0, ended, printed };
}
