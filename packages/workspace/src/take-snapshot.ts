import { checkOptionNames, type OptionNames } from "@steps/model";
import { join, relative } from "node:path";
import { copyProject, type CopyProjectOptions } from "./copy-project.ts";
import { TreeTemplate } from "./tree-template.ts";
import { WorkspaceError } from "./workspace-error.ts";

const MANY_FILES = 5000;
const MANY_BYTES = 128 * 1024 * 1024;

/** A project as it was at one moment. Any number of workspaces are copied from it, and none of them changes it. */
export interface Snapshot {
  /** The folder with all that is copied: absolute. */
  readonly root: string;
  /** The folder in it that stands for the project: absolute. */
  readonly folder: string;
  /** Whether a copy may take seconds. */
  readonly isLarge: boolean;
  /**
   * Copies the snapshot with its repository; no program is started for it.
   *
   * @param target - The folder of the copy: absolute, and not there yet.
   * @returns the folder in the copy that stands for the project
   * @throws {WorkspaceError} `WORKSPACE_IO`
   */
  readonly copyTo: (target: string, signal: AbortSignal) => Promise<string>;
}

const OPTION_NAMES: OptionNames<CopyProjectOptions> = { project: true, target: true, env: true, signal: true };

/**
 * Takes a snapshot of a project, with the files that `copyProject()` copies: what somebody changes in the project afterwards is
 * seen by no copy of it.
 *
 * @throws {WorkspaceError} `GIT_FAILED`, `WORKSPACE_IO`
 */
export async function takeSnapshot(options: CopyProjectOptions): Promise<Snapshot> {
  checkOptionNames("takeSnapshot()", options, OPTION_NAMES);
  const { target: root, signal } = options;
  const folder = await copyProject(options);
  const template = await inWords(root, signal, () => TreeTemplate.read(root, signal));
  return {
    root,
    folder,
    isLarge: template.count > MANY_FILES || template.bytes > MANY_BYTES,
    copyTo: async (target, ownSignal) => {
      await inWords(root, ownSignal, () => template.copyTo(target, ownSignal));
      return join(target, relative(root, folder));
    },
  };
}

async function inWords<Result>(root: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    throw new WorkspaceError("WORKSPACE_IO", `Cannot copy the snapshot "${root}": ${error.message}`, { cause: error });
  }
}
