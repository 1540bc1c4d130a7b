import { checkContainerCli, findContainerCli } from "@steps/containers";
import type { Run } from "@steps/executor/kit";

/** The message for a machine without a container engine. */
export const NO_CLI = "Containers need the docker or the podman command, and neither is on the PATH";

/** Says why Docker actions cannot be run here; `undefined`: they can. */
export async function checkContainers(run: Run): Promise<string | undefined> {
  const cli = findContainerCli(process.env["PATH"]);
  if (cli === undefined) return NO_CLI;
  const check = await checkContainerCli(cli, { env: process.env, signal: run.signal });
  return check.isUsable ? undefined : `${check.message} (${check.hint})`;
}
