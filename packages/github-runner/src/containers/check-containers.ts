import { checkContainerCli, findContainerCli } from "@steps/containers";
import type { Run } from "@steps/executor/kit";

/** What is said where there is no container engine. */
export const NO_CLI = "Containers need the docker or the podman command, and neither is on the PATH";

/** What keeps Docker actions from being run here, if anything does. */
export async function checkContainers(run: Run): Promise<string | undefined> {
  const cli = findContainerCli(process.env["PATH"]);
  if (cli === undefined) return NO_CLI;
  const check = await checkContainerCli(cli, { env: process.env, signal: run.signal });
  return check.isUsable ? undefined : `${check.message} (${check.hint})`;
}
