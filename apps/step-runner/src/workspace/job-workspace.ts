import { mkdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { privateDirectory, userDirectories } from "@steps/engine/runs";
import type { Job } from "@steps/model";
import { type PlannedCopy, planCopy, Workspaces } from "@steps/workspace";
import { CopyNotice } from "./copy-notice.ts";
import { absolute } from "../files/absolute.ts";
import { sweepLeft } from "../job-containers/sweep-once.ts";

/** Flags that say in which folder a job runs. */
export const workspaceFlags = grouped("Where the job runs", {
  "in-place": flag.boolean({
    summary: "The job runs in the project itself; by default in a copy of it with all changes, without ignored files",
    env: "STEP_RUNNER_IN_PLACE",
  }),
});

type Options = OptionsOf<typeof workspaceFlags> & { readonly stateDir: string | undefined; readonly quiet: boolean };

/**
 * The folder that one job runs in: a copy of the project, so that nothing is written to the project itself, or the project if the
 * user wants that. The copy goes when this is disposed of.
 */
export class JobWorkspace implements AsyncDisposable {
  readonly #options: Options;
  readonly #stop = new AbortController();
  #workspaces: Workspaces | undefined;
  #planned: PlannedCopy | undefined;
  #target: string | undefined;
  #copy: Job["workspace"];

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Finds out the folder that the job will run in; it is not there before `fill()`.
   *
   * @param project - The folder of the project: absolute.
   * @throws {UsageError} for a folder that nobody wants to be copied as a whole
   */
  async place(project: string): Promise<string> {
    if (this.#options.inPlace) return project;
    this.#workspaces = new Workspaces(privateDirectory(this.#options.stateDir ?? userDirectories(process.env).state));
    const target = this.#workspaces.next();
    this.#planned = await planCopy({ project, target, env: process.env, signal: this.#stop.signal });
    if (!this.#planned.isRepository) refuseLarge(project);
    this.#target = target;
    this.#copy = { root: dirname(target), projectDir: project };
    return this.#planned.folder;
  }

  /** The copy that the job runs in, once it has a place; absent where it runs in the project itself. */
  get copy(): Job["workspace"] {
    return this.#copy;
  }

  /** Makes the copy, anew where it is there already. It stops when the signal is aborted; the run of the job then ends at once, too. */
  async fill(signal: AbortSignal): Promise<void> {
    const { folder, make } = this.#planned ?? {};
    if (folder === undefined || make === undefined) return;
    const stop = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    using notice = this.#options.quiet ? undefined : new CopyNotice(this.#copy?.projectDir ?? "");
    try {
      // Files of killed jobs in containers may belong to another user until then.
      await sweepLeft(absolute(this.#options.stateDir ?? userDirectories(process.env).state));
      await this.#workspaces?.sweep();
      // Each attempt of a job begins without the files of the one before.
      if (this.#target !== undefined) await this.#workspaces?.remove(this.#target);
      await make(notice?.onProgress);
    } catch (error) {
      if (!signal.aborted) throw error;
      mkdirSync(folder, { recursive: true });
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workspaces?.[Symbol.asyncDispose]();
  }
}

/** @throws {UsageError} for the root of the machine and for the home directory of the user */
function refuseLarge(project: string): void {
  const real = realpathSync(project);
  const home = homedir();
  if (real !== "/" && real !== home && real !== realpathOf(home)) return;
  const what = real === "/" ? "The root of the file system" : "Your home directory";
  throw new UsageError(
    `${what} is no project that can be copied`,
    "The job runs in a copy of the project's folder, which is no repository of git here. Move the file into a folder of its own, or give --in-place.",
  );
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
