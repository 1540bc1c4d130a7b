export {
  type ContainerOptions,
  type KeptContainers,
  openContainers,
  type OpenContainers,
  removeContainers,
  reopenContainers,
} from "./open-containers.ts";
export { type ContainerRun, type ContainerRunOptions, runInContainers } from "./run-in-containers.ts";
export { sweepContainers } from "./sweep.ts";
export type { PullPolicy, SharedFolder, WantedContainers, WantedImage, WantedService } from "./wanted.ts";
