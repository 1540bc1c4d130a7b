import { spawn } from "node:child_process";
import { coverInherited } from "@steps/platform/processes";
import { clientVariables } from "../client/client-variables.ts";
import type { ContainerCli } from "../client/find-container-cli.ts";

// The runner that goes without a word takes the other end of the pipe with it.
const SCRIPT = `read -r line; [ "$line" = done ] && exit 0
rm -rf "$4"
for round in 1 2 3 4 5; do
  ids=$("$1" ps --all --quiet --filter "label=$2")
  [ -z "$ids" ] || "$1" rm --force --volumes $ids
  "$1" network rm "$3" && exit 0
  sleep 1
done`;

/** Somebody who removes the containers of a job and its network if the runner is killed. */
export interface Guard {
  /** All is removed. */
  release(): void;
}

/** Starts a shell that waits for the runner's end, in a session of its own. @param options.folder goes, too, if it is there */
export function startGuard(
  cli: ContainerCli,
  { label, network, folder }: { label: string; network: string; folder: string },
): Guard {
  const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", cli.program, label, network, folder], {
    cwd: "/",
    env: clientVariables(),
    stdio: ["pipe", "ignore", "ignore", ...coverInherited()],
    detached: true,
  });
  const { stdin } = child;
  // Without a shell there is no guard, and nothing else is different.
  child.on("error", () => {});
  stdin?.on("error", () => {});
  child.unref();
  return { release: () => void stdin?.end("done\n") };
}
