/** Every pod has so many ids for its jobs, pipelines and runners: those of pod 1 begin at 1, and 9000 pods have room. */
export const IDS_PER_POD = 1_000_000_000_000;

/** The number of the pod that made an id. */
export function podOfId(id: number): number {
  return Math.floor((id - 1) / IDS_PER_POD) + 1;
}
