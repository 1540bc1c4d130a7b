import { spawn } from "node:child_process";
import { coverInherited } from "@steps/platform/processes";
import { clientVariables } from "../client/client-variables.ts";
import type { ContainerCli } from "../client/find-container-cli.ts";

// The runner that goes without a word takes the other end of the pipe with it.
const SCRIPT = `read -r line; [ "$line" = done ] && exit 0
cli=$1; label=$2; network=$3; folder=$4; shift 4
[ $# -gt 0 ] || rm -rf "$folder"
for round in 1 2 3 4 5; do
  ids=$("$cli" ps --all --quiet --filter "label=$label")
  [ -z "$ids" ] || "$cli" rm --force --volumes $ids
  "$cli" network rm "$network" && break
  sleep 1
done
[ $# -eq 0 ] || "$cli" "$@"
rm -rf "$folder"`;

/** Somebody who removes the containers of a job and its network if the runner is killed. */
export interface Guard {
  /** All is removed. */
  release(): void;
}

/** The things that a guard removes. */
export interface Guarded {
  /** The label of the containers. */
  readonly label: string;
  readonly network: string;
  /** It goes, too, if it is there. */
  readonly folder: string;
  /** Arguments of the client for when the containers are gone. Default: none. */
  readonly last?: readonly string[] | undefined;
}

/** Starts a shell that waits for the runner's end, in a session of its own. */
export function startGuard(cli: ContainerCli, { label, network, folder, last = [] }: Guarded): Guard {
  const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", cli.program, label, network, folder, ...last], {
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
