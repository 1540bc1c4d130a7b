import type { RunningContainer } from "@steps/containers/job";

/** The container that the steps of a job run in. */
export interface JobContainer extends RunningContainer {
  /** Of the daemon. */
  readonly id: string;
  /** What runs a file of JavaScript in it; absent: nothing does. */
  readonly nodeCommand: readonly string[] | undefined;
  /** Makes ports of the runner's loopback ports of the container's own. */
  readonly reach?: (ports: readonly number[]) => Promise<void>;
}
