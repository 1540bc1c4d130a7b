/**
 * Removes the containers that GitHub actions of a run have left: the client of a container ends with its run, the container does not.
 * Whether none is left, as far as there is a command to ask. Takes 30 s for each at most; never rejects.
 *
 * @param cookie of the run
 */
export async function removeContainers(cookie: string): Promise<boolean> {
  const [{ findContainerCli }, { removeLabelled }] = await Promise.all([
    import("./actions/find-container-cli.ts"),
    import("./actions/remove-container.ts"),
  ]);
  const cli = findContainerCli(process.env["PATH"]);
  return cli === undefined || (await removeLabelled(cli, { label: `steps.job=${cookie}`, env: process.env }));
}
