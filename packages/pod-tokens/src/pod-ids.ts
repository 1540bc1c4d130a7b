/** Every pod has so many ids for its jobs, pipelines and runners: those of pod 1 begin at 1, and 9000 pods have room. */
const IDS_PER_POD = 1_000_000_000_000;

/** The number of a daemon among the pods whose jobs it hands out. Its ids follow those of pod 9000. */
export const DAEMON_NUMBER = 0;

const LAST_POD = 9000;

/** The first and the last id of a pod, or of the daemon. */
export function idsOf(pod: number): readonly [first: number, last: number] {
  const before = (pod === DAEMON_NUMBER ? LAST_POD : pod - 1) * IDS_PER_POD;
  return [before + 1, before + IDS_PER_POD];
}

/** The number of the pod that made an id; {@link DAEMON_NUMBER} for an id of a daemon. */
export function podOfId(id: number): number {
  const pod = Math.floor((id - 1) / IDS_PER_POD) + 1;
  return pod > LAST_POD ? DAEMON_NUMBER : pod;
}
