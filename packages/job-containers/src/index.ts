export {
  type ContainerOptions,
  type KeptContainers,
  openContainers,
  type OpenContainers,
  removeContainers,
  reopenContainers,
} from "./open-containers.ts";
export type { AwaitedService, Prepared } from "./inside/preparation.ts";
export { PROGRAM, PROGRAM_DIR, RUN_DIR, SOCKET } from "./places.ts";
export { type ContainerRun, type ContainerRunOptions, runInContainers } from "./run-in-containers.ts";
export { awaitArguments, readPrepared, serviceWords } from "./start-command.ts";
export { sweepContainers } from "./sweep.ts";
export type { PullPolicy, SharedFolder, WantedContainers, WantedImage, WantedService } from "./wanted.ts";
