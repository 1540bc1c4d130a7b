import { runBriefly } from "@steps/platform/processes";
import { dockerRemoveCommand } from "./docker-command.ts";
import { type ContainerCli, findContainerCli } from "./find-container-cli.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const REMOVE_TIMEOUT_MS = 30_000;

/**
 * Ends and removes a container by its name. This is needed when its client was killed, since the container does not end
 * with it. Returns true when the container is gone, also if there was none. Takes 30 s at most; never rejects.
 */
export async function removeContainer(
  cli: ContainerCli,
  options: { name: string; env: Environment },
): Promise<boolean> {
  const [program = "", ...args] = dockerRemoveCommand(cli, options.name);
  const answer = await runBriefly({ program, args, env: options.env, timeoutMs: REMOVE_TIMEOUT_MS });
  return (
    answer.exitCode === 0 ||
    /no such container|no container with|removal of container .* in progress/i.test(answer.stderr)
  );
}

/**
 * Removes all containers with a label, also those that a killed client had asked for and that came after it: for the end of a job.
 * Whether none is left. Never rejects.
 */
export async function removeLabelled(
  cli: ContainerCli,
  options: { label: string; env: Environment },
): Promise<boolean> {
  const list = ["ps", "--all", "--quiet", `--filter=label=${options.label}`];
  const call = { program: cli.program, env: options.env, timeoutMs: REMOVE_TIMEOUT_MS };
  const listed = await runBriefly({ ...call, args: list });
  if (listed.exitCode !== 0) return false;
  const ids = listed.stdout.split("\n").filter((id) => /^[0-9a-f]{12,64}$/.test(id));
  const removed = await Promise.all(ids.map((name) => removeContainer(cli, { name, env: options.env })));
  return removed.every(Boolean);
}

/** The label of everything that belongs to a job. @param id of the job, that no other job of the engine has */
export function labelOfJob(id: string): string {
  return `steps.job=${id}`;
}

/**
 * Removes the containers that a job has left: the client of a container ends with the runner, the container does not. Whether none
 * is left, as far as there is a command to ask. Takes 30 s for each at most; never rejects.
 */
export async function removeContainersOfJob(id: string): Promise<boolean> {
  const cli = findContainerCli(process.env["PATH"]);
  return cli === undefined || (await removeLabelled(cli, { label: labelOfJob(id), env: process.env }));
}
