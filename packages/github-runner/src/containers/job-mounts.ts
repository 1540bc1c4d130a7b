import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { bindOption, CONTAINER_SOCKET, type ContainerCli, findContainerSocket } from "@steps/containers";
import { carryNode } from "@steps/containers/own-program";
import { ExecuteError, type Run } from "@steps/executor/kit";
import type { ActionScope } from "../job/action-scope.ts";
import { inputText } from "../job/input-text.ts";

/** Without what an image has in these, nothing of it starts. */
const SYSTEM_FOLDERS: ReadonlySet<string> = new Set(
  "/ /bin /boot /dev /etc /lib /lib64 /proc /run /sbin /sys /usr /usr/bin /usr/lib /usr/local /var".split(" "),
);

/** The parts of the host that a job's container sees. */
export interface JobMounts {
  /** Options of the client. */
  readonly mounts: readonly string[];
  readonly nodeCommand: readonly string[] | undefined;
}

/**
 * The workspace, the job's private folder and the tool cache are in the container under the paths that they have outside: so what
 * `github.workspace` says is true in both, and for what a step starts through the daemon's socket. @throws {ExecuteError}
 * WORK_DIR_MISSING
 */
export function prepareMounts(run: Run, { job }: ActionScope, cli: ContainerCli): JobMounts {
  const { workDir } = run.job;
  const { jobTmp } = run;
  const toolCacheDir = inputText(job.description.runner["tool_cache"] ?? job.host.toolCacheDir);
  mkdirSync(toolCacheDir, { recursive: true });
  const folders = [workDir, jobTmp, toolCacheDir].map((folder) => folder.replace(/(?<=.)\/+$/, ""));
  const hidden = folders.find((folder) => SYSTEM_FOLDERS.has(folder));
  if (hidden !== undefined) {
    const message = `container: the folder "${hidden}" cannot be in it, since it would hide the image's own`;
    throw new ExecuteError("WORK_DIR_MISSING", message, { hint: "Run the job in another folder." });
  }
  // Its parent stays private: nobody else of this machine gets here, and any user of the container does.
  chmodSync(jobTmp, 0o755);
  const socket = findContainerSocket(cli, process.env);
  const node = carryNode(join(jobTmp, "container-node"));
  return {
    mounts: [
      ...[...new Set(folders)].map((folder) => bindOption(folder, folder)),
      ...(socket === undefined ? [] : [bindOption(socket, CONTAINER_SOCKET)]),
      ...(node?.mounts ?? []),
    ],
    nodeCommand: node?.command,
  };
}
