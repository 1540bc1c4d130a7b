import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { hasProgram } from "@steps/testkit";

/** The version that the targets are for. */
const VERSION = "4.75.1";

/**
 * Installs gitlab-ci-local into a folder and gives the path of its program for Node. It is no dependency of ours, and of the
 * machine it needs rsync.
 */
export function installPeer(folder: string): string {
  if (!hasProgram("rsync")) throw new Error("gitlab-ci-local needs rsync: apt-get install rsync");
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--prefer-offline"];
  const done = spawnSync("npm", [...args, `gitlab-ci-local@${VERSION}`], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`Cannot install gitlab-ci-local: ${done.error?.message ?? done.stderr}`);
  return join(folder, "node_modules/gitlab-ci-local/dist/index.js");
}
