export { ContainerError, type ContainerErrorCode } from "./container-error.ts";
export { clientVariables } from "./client/client-variables.ts";
export {
  bindOption,
  checkImage,
  CONTAINER_SOCKET,
  type DockerBuild,
  dockerBuildCommand,
  dockerRemoveCommand,
  passVariables,
} from "./client/docker-command.ts";
export {
  checkContainerCli,
  type ContainerCheck,
  type ContainerCli,
  findContainerCli,
  findContainerSocket,
} from "./client/find-container-cli.ts";
export { openCredentials, type OpenCredentials, type RegistryCredentials } from "./client/registry-credentials.ts";
export { labelOfJob, removeContainer, removeContainersOfJob, removeLabelled } from "./client/remove-container.ts";
