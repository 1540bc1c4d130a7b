/** Removes the containers that a run has left; what knows of containers is loaded only now. Takes 30 s for each at most; never rejects. */
export async function removeContainers(traceId: string): Promise<void> {
  const { removeContainersOfJob } = await import("@steps/containers");
  await removeContainersOfJob(traceId);
}
