/** The kind of a runner as GitLab numbers it: 1 of the instance, 2 of a group, 3 of projects. */
export type RunnerKind = 1 | 2 | 3;

/** The properties that decide which jobs a runner takes. Runners with the same capability stand in one group of the queue. */
export interface Capability {
  readonly kind: RunnerKind;
  /** The group of a group runner. */
  readonly groupId: number | undefined;
  /** The projects of a project runner, sorted. */
  readonly projectIds: readonly number[];
  /** Sorted. */
  readonly tags: readonly string[];
  readonly runUntagged: boolean;
  /** Takes the jobs of protected refs alone. */
  readonly isProtected: boolean;
  /** The features that the runner's program announces, sorted. A job that needs more is not for it. */
  readonly features: readonly string[];
}

/** The capability as a text: equal ones have equal texts. */
export function fingerprintOf(capability: Capability): string {
  const { kind, groupId, projectIds, tags, runUntagged, isProtected, features } = capability;
  return JSON.stringify([kind, groupId ?? 0, projectIds, tags, runUntagged, isProtected, features]);
}
