import { existsSync } from "node:fs";
import { errors, output, progressMode } from "@steps/console/terminal";
import type { Engine, ReplayReport, RunHooks } from "@steps/engine";
import type { GithubOptions } from "@steps/engine/github";
import type { JobView } from "@steps/pipeline-view";
import type { decodeTrace } from "@steps/trace";
import { githubOptions } from "../flags/github-flags.ts";
import { hideEnvironment } from "../environment/hide-environment.ts";
import { openEngine } from "../open-engine.ts";
import { describeFetch, Progress } from "../run/progress.ts";
import { StopSignals } from "../signals.ts";
import { JobWorkspace } from "../workspace/job-workspace.ts";
import type { ReplayFlags } from "./replay-flags.ts";

type Trace = Awaited<ReturnType<typeof decodeTrace>>;

/** The facts that concern the replay of one job alone. */
export interface ReplayOfJob {
  /** Values that inputs have instead of the recorded ones. Default: none. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Facts for actions besides those of the flags. Default: none. */
  readonly github?: GithubOptions;
  readonly onOutput?: RunHooks["onOutput"];
}

/** Runs jobs of traces again, one after the other. */
export class ReplaySession implements AsyncDisposable {
  readonly options: ReplayFlags;
  readonly #engine: Engine;
  readonly #stop = new StopSignals();

  /** @param path - The file of the trace. */
  constructor(options: ReplayFlags, path: string) {
    hideEnvironment();
    this.options = options;
    const written = [options.outputFile, path, "step-results.json", "step-results.txtpb"];
    this.#engine = openEngine(options, { excluded: written });
  }

  /** Runs a job again in a new copy of its project, and compares. A job whose output nobody takes is shown as a run is. */
  async replay(trace: Trace, { inputs, github, onOutput }: ReplayOfJob = {}): Promise<ReplayReport> {
    const { options } = this;
    const { signal, hurry } = this.#stop;
    const shown = await this.#show(onOutput);
    await using workspace = new JobWorkspace({ ...options, inPlace: false });
    const workDir = options.workDir ?? (await placeOf(trace, workspace));
    await workspace.fill(signal);
    const replay = this.#engine.replay(trace, {
      secrets: options.secret,
      inputs,
      workDir,
      workspace: workspace.copy,
      countsDrift: options.strict,
      github: { ...githubOptions(options), ...github },
      ignore: options.ignore,
      hooks: shown.hooks,
      timeoutMs: options.timeout,
      graceMs: options.grace,
      hurry,
      signal,
    });
    return await replay.finally(shown.end);
  }

  async #show(onOutput: RunHooks["onOutput"]): Promise<{ readonly hooks: RunHooks; readonly end: () => void }> {
    const mode = progressMode(this.options);
    const hasView = onOutput === undefined && (mode === "tree" || mode === "plain");
    // The output of a job of a pipeline has its name before it, which lines about its steps have not.
    const progress = new Progress(mode === "quiet", { hasView: hasView || onOutput !== undefined });
    if (!hasView) {
      const { onEvent, onProgress } = progress;
      const write: RunHooks["onOutput"] = (stream, chunk) => this.writerOf(stream).write(chunk);
      return { hooks: { onEvent, onProgress, onOutput: onOutput ?? write }, end: () => undefined };
    }
    const { JobView } = await import("@steps/pipeline-view");
    // A trace whose components are not there runs nothing, and has nothing to show.
    let view: JobView | undefined;
    const hooks: RunHooks = {
      onEvent: (event) => {
        view ??= new JobView(mode);
        view.onEvent(event);
        progress.onEvent(event);
      },
      onProgress: (path, reference, fetch) => view?.tellFetch(path, `fetching ${describeFetch(reference, fetch)}`),
      onOutput: (stream, chunk, path) => view?.write(this.writerOf(stream), stream, chunk, path),
    };
    return { hooks, end: () => view?.finish() };
  }

  /** With a report for machines standard output is the report's alone. */
  writerOf(stream: "stdout" | "stderr"): typeof output {
    return stream === "stdout" && this.options.report !== "json" ? output : errors;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop[Symbol.dispose]();
    await this.#engine[Symbol.asyncDispose]();
  }
}

// A job that ran in a copy of its project runs in one again; the copy that it ran in is gone.
async function placeOf({ request }: Trace, workspace: JobWorkspace): Promise<string | undefined> {
  const { projectDir } = request ?? {};
  if (projectDir === undefined) return undefined;
  return workspace.place(existsSync(projectDir) ? projectDir : process.cwd());
}
