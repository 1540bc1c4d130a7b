import type { RunningContainer } from "@steps/containers/job";

/** The container that the steps of a job run in. */
export interface JobContainer extends RunningContainer {
  /** The id that the daemon gave it. */
  readonly id: string;
  /** The command that runs a file of JavaScript in it; `undefined`: nothing does. */
  readonly nodeCommand: readonly string[] | undefined;
  /** Makes ports of the runner's loopback reachable at the container's own loopback. */
  readonly reach: (ports: readonly number[]) => Promise<void>;
}
