import type { Readable } from "node:stream";

/** A pod of the test double. Its programs run on this machine. */
export interface KubernetesPod {
  /** `default` when absent. */
  readonly namespace?: string;
  readonly name: string;
  /** One container `main` when absent. */
  readonly containers?: readonly string[];
  /** Only in a running pod programs can be started; `Running` when absent. */
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  /** The command that runs in place of one that is asked for: default, that one on this machine. */
  readonly commandOf?: (container: string, argv: readonly string[]) => readonly string[];
  /** Environment of the programs; this process's own when absent. */
  readonly env?: NodeJS.ProcessEnv;
  /** The output of `kubectl logs`. */
  readonly log?: string;
  /** The output that comes after `log` when the log is followed. */
  readonly followedLog?: Readable;
}

/** A `metav1.Status` that says what went wrong. */
export function failure(status: number, reason: string, message: string): { status: number; body: object } {
  return {
    status,
    body: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code: status },
  };
}

/** The `v1.Pod` of a pod. */
export function podObject(pod: KubernetesPod): object {
  const phase = pod.phase ?? "Running";
  const names = pod.containers ?? ["main"];
  const state =
    phase === "Running"
      ? { running: {} }
      : phase === "Pending"
        ? { waiting: { reason: "ContainerCreating" } }
        : { terminated: {} };
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: pod.name, namespace: pod.namespace ?? "default" },
    spec: { containers: names.map((name) => ({ name, image: "test" })) },
    status: { phase, containerStatuses: names.map((name) => ({ name, ready: phase === "Running", state })) },
  };
}

/** Answers the requests by which a client learns which resources exist; undefined for other paths. */
export function discovery(path: string): object | undefined {
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: [] };
  if (path === "/version") return { major: "1", minor: "32", gitVersion: "v1.32.0" };
  if (path !== "/api/v1") return undefined;
  const pod = { singularName: "pod", namespaced: true, kind: "Pod" };
  return {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      { name: "pods", ...pod, verbs: ["get", "list"], shortNames: ["po"] },
      { name: "pods/exec", ...pod, kind: "PodExecOptions", verbs: ["create", "get"] },
      { name: "pods/log", ...pod, verbs: ["get"] },
    ],
  };
}
