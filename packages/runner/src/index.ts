export { loadConfig, saveConfig, systemIdOf } from "./config/config-file.ts";
export {
  type DockerConfig,
  type ExecutorName,
  EXECUTORS,
  type KubernetesConfig,
  type RunnerConfig,
  type RunnersConfig,
  type SshConfig,
} from "./config/runner-config.ts";
export { connectServer, type ServerConfig } from "./connect-server.ts";
export {
  type NewRunner,
  refusal,
  registerRunner,
  type Registration,
  type ServerSettings,
} from "./register/register-runner.ts";
export { RunnerError, type RunnerErrorCode } from "./runner-error.ts";
export { runnerInfo, RUNNER_VERSION } from "./runner-info.ts";
export { startRunners, type StartOptions, type WorkCounts } from "./take/start-runners.ts";
