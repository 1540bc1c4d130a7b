import type { Log } from "@steps/model/operation";

/** The settings of a pod. */
export interface PodOptions {
  /** The number of the pod, 1 to 9000: its tokens and the ids of its jobs tell it. Default: 1. */
  readonly pod?: number | undefined;
  /** The folder for its files, and for its database unless there is a URL. */
  readonly stateDir: string;
  /** A PostgreSQL that several processes of the pod share: `postgres://…`. Default: an embedded database. */
  readonly databaseUrl?: string | undefined;
  /** The URL at which runners reach the pod. Default: that of its own port. */
  readonly url?: string | undefined;
  /** Milliseconds for which a request for a job waits. Default: 50 s. */
  readonly pollHoldMs?: number | undefined;
  /** Seconds that a runner has to confirm a job; twice as many for runners that do not know how. Default: 60. */
  readonly leaseSeconds?: number | undefined;
  /** An S3-compatible store for artifacts: `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`. Default: the state directory. */
  readonly artifacts?: string | undefined;
  /** The most bytes of one artifact. Default: 1 GiB. */
  readonly artifactLimit?: number | undefined;
  /** The most bytes of the trace of a job. Default: 64 MiB. */
  readonly traceLimit?: number | undefined;
  /** The token with which runners register themselves, as they did formerly. Default: they cannot. */
  readonly registrationToken?: string | undefined;
  /** Seconds without a word of its runner after which a running job has failed. Default: one hour. */
  readonly silenceSeconds?: number | undefined;
  /** The daemon that hands the jobs of the pod to runners of all pods, too. Default: none. */
  readonly daemon?: DaemonAddress | undefined;
  /** Seconds for which pipelines are kept that ended, with their jobs, traces and artifacts. Default: for ever. */
  readonly keepSeconds?: number | undefined;
  /** Takes what the pod has to tell: no line holds a token. */
  readonly log?: Log | undefined;
}

/** The address of a daemon, and the token of the pod's link with it. */
export interface DaemonAddress {
  readonly url: string;
  readonly token: string;
}

/** The settings with their defaults. */
export type PodSettings = Required<Omit<PodOptions, Optional>> & Pick<PodOptions, Optional>;

type Optional = "artifacts" | "databaseUrl" | "keepSeconds" | "url" | "registrationToken" | "daemon";
