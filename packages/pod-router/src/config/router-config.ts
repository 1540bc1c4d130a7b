/** A pod as a router knows it. */
export interface RouterPod {
  /** The number in the tokens of the pod and in the ids of its jobs. A daemon for runners of several pods has one too, such as 0. */
  readonly number: number;
  /** The URL at which the router reaches the pod, without a path. */
  readonly url: URL;
  /** The URL at which runners reach the pod without the router, for large artifacts. */
  readonly publicUrl?: URL | undefined;
  /** The ids of the pod's jobs where they are not those that the number gives: the first and the last. */
  readonly jobs?: readonly [first: number, last: number] | undefined;
}

/** All that a router knows. Two routers with the same configuration decide alike. */
export interface RouterConfig {
  readonly pods: ReadonlyMap<number, RouterPod>;
  /** The pod that gets what says nothing about its pod: tokens of the time before the router. */
  readonly defaultPod?: RouterPod | undefined;
  /** Whether uploads of artifacts are sent to the public URL of the pod, so that their bytes do not pass the router. */
  readonly redirectsArtifacts: boolean;
  /** Requests to one pod at the same time, held ones included; more get 503. */
  readonly maxRequestsPerPod: number;
  /** Connections of all clients at the same time; more are refused. */
  readonly maxConnections: number;
  /**
   * Milliseconds after which a pod that neither sends nor takes a byte is given up, and a client that is silent in the middle of its
   * request or takes no byte of its answer. It is longer than any hold of a request.
   */
  readonly idleTimeoutMs: number;
}

/** The values of settings that a configuration leaves out. */
export const ROUTER_DEFAULTS: Omit<RouterConfig, "pods" | "defaultPod"> = {
  redirectsArtifacts: false,
  maxRequestsPerPod: 20_000,
  maxConnections: 20_000,
  idleTimeoutMs: 120_000,
};
