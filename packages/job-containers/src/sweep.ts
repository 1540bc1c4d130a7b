import { clientVariables, type ContainerCli, labelOfJob, removeLabelled } from "@steps/containers";
import { runBriefly } from "@steps/platform/processes";
import { abandonedFolders, type JobFolder, type JobRecord, removeJobFolder, type Restored } from "./job-folder.ts";
import { PROGRAM_DIR, RUN_DIR } from "./places.ts";
import { afterwardsArguments } from "./start-command.ts";
import type { Restoration } from "./inside/preparation.ts";

const TIMEOUT_MS = 60_000;

/**
 * Removes the containers, networks and folders that killed processes with this state directory have left, and gives the files of
 * their jobs back to the user. What the engine does not let go stays for the next time; never rejects.
 */
export async function sweepContainers(cli: ContainerCli, stateDir: string): Promise<void> {
  for (const { folder, record } of abandonedFolders(stateDir)) {
    if (await removeJob(cli, folder, record)) removeJobFolder(folder.path);
  }
}

/** Removes the containers of a job, and gives its files back. Whether the engine did so. Never rejects. */
export async function removeJob(cli: ContainerCli, folder: JobFolder, record: JobRecord): Promise<boolean> {
  const label = labelOfJob(record.id);
  const call = { program: cli.program, env: clientVariables(), timeoutMs: TIMEOUT_MS };
  if (!(await removeLabelled(cli, { label, env: clientVariables() }))) return false;
  await runBriefly({ ...call, args: ["network", "rm", record.network] });
  await runBriefly({ ...call, args: restoreArguments(cli, folder, record) });
  return true;
}

/** The arguments that give the files of a job back to the user when its containers are gone. */
export function restoreArguments(cli: ContainerCli, folder: JobFolder, record: JobRecord): readonly string[] {
  const folders = { program: record.program, run: folder.run };
  const words = restoreWords(record.wanted);
  return afterwardsArguments({ cli, label: labelOfJob(record.id) }, record.wanted, { folders, words });
}

/** The words that make our program in a container give the files of a job back to the user. */
export function restoreWords({ project, stores }: Pick<Restored, "project" | "stores">): readonly string[] {
  const restoration: Restoration = {
    reference: PROGRAM_DIR,
    folders: [RUN_DIR, project.target, ...stores.map(({ target }) => target)],
  };
  return ["job-container", "restore", JSON.stringify(restoration)];
}
