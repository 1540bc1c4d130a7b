export {
  type ContainerStart,
  jobContainerCommand,
  type JobContainerStart,
  serviceCommand,
  type StartCommand,
} from "./container-arguments.ts";
export type { ContainerSpec } from "./container-spec.ts";
export { type ContainerFacts, endOfLog, inspectContainer } from "./inspect-container.ts";
export { JobNetwork } from "./job-network.ts";
export { LoopbackRelay } from "./loopback-relay.ts";
export { type Probe, probeContainer, type ProbedContainer } from "./probe-container.ts";
export {
  execArguments,
  type ProcessInContainer,
  type RunningContainer,
  signalInContainer,
} from "./run-in-container.ts";
export { waitForHealth } from "./wait-for-health.ts";
