export { createKubernetesAccess } from "./access/kubernetes-access.ts";
export type {
  KubernetesAccess,
  KubernetesAccessOptions,
  KubernetesAccessSource,
  KubernetesTls,
} from "./access/kubernetes-access.ts";
export {
  type KubernetesObject,
  kubernetesObjects,
  type KubernetesObjects,
  type ObjectKind,
  type ObjectName,
} from "./api/kubernetes-objects.ts";
export { isMissingProgram, type ExecOutcome, type ExecStream } from "./exec/exec-outcome.ts";
export { runExec, type ExecResult } from "./exec/run-exec.ts";
export { startExec, type ExecOptions, type ExecSession } from "./exec/start-exec.ts";
export { KubernetesError, type KubernetesErrorCode } from "./kubernetes-error.ts";
export { explainPod } from "./pod/explain-pod.ts";
export { podName, type PodTarget } from "./pod/pod-target.ts";
