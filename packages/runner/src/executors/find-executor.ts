import type { ExecutorName } from "../config/runner-config.ts";
import type { Executor } from "./executor.ts";

// Each with what it needs is loaded when a runner has it.
const EXECUTORS: Readonly<Record<ExecutorName, () => Promise<Executor>>> = {
  host: async () => (await import("./host-executor.ts")).hostExecutor,
  docker: async () => (await import("./docker-executor.ts")).dockerExecutor,
  kubernetes: async () => (await import("./kubernetes-executor.ts")).kubernetesExecutor,
  ssh: async () => (await import("./ssh-executor.ts")).sshExecutor,
};

/** The executor of that name. */
export function findExecutor(name: ExecutorName): Promise<Executor> {
  return EXECUTORS[name]();
}
