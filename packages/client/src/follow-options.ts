import type { StepResult } from "@steps/proto";
import type { Job } from "@steps/proto/service";
import type { LinkState } from "./link.ts";
import type { Offsets } from "./service-client.ts";

/** The states that are reported while a job is run and followed. */
export type ClientState =
  | LinkState
  /** The service acknowledged the job: from now on it runs, whatever becomes of the connection. */
  | { readonly type: "started"; readonly id: string }
  | { readonly type: "cancelling"; readonly id: string }
  | { readonly type: "ended"; readonly job: Job }
  /** The job ended, but something that was wanted of it cannot be had. */
  | { readonly type: "unavailable"; readonly what: "result" | "trace"; readonly reason: string }
  | { readonly type: "closed"; readonly id: string }
  /** The job ended, but the service could not be told that it is not needed any more; it forgets it by itself. */
  | { readonly type: "close-failed"; readonly reason: string };

/** How a job is followed. */
export interface FollowOptions {
  /** The job's token. */
  readonly token?: string;
  /** The token of a service that listens on a port. */
  readonly bearer?: string;
  /** Aborted: the job is cancelled, and followed to its end. */
  readonly signal?: AbortSignal;
  /** Aborted: the job is closed, and its end is not waited for. */
  readonly hurry?: AbortSignal;
  /** Aborted: nothing more is read, and the job goes on. */
  readonly detach?: AbortSignal;
  /** Takes the job's output as it comes. While a promise is pending nothing more is read: the service waits, not the memory. */
  readonly onOutput?: (stream: "stdout" | "stderr", bytes: Uint8Array) => void | Promise<void>;
  /** Called after output was taken: with these offsets as `resume` another process goes on where this one was. */
  readonly onOffsets?: (offsets: Offsets) => void | Promise<void>;
  /** The offsets to start from. */
  readonly resume?: Offsets;
  /** Takes the result tree at each change. States that come while a promise is pending may be left out, never the last. */
  readonly onResult?: (result: StepResult, job: Job | undefined) => void | Promise<void>;
  /** Called at each change of state. It must not throw. */
  readonly onState?: (state: ClientState) => void;
  /** The last result tree is wanted. */
  readonly wantsResult?: boolean;
  readonly wantsTrace?: boolean;
  /** The job is not closed at its end: its log can be read until it expires. */
  readonly keep?: boolean;
  /** How long a lost connection is tried again before the job is given up; 5 min. */
  readonly reconnectWindowMs?: number;
  /** How long the first connection is tried; 10 s. */
  readonly connectWindowMs?: number;
}

/** A job that ended. */
export interface JobOutcome {
  readonly id: string;
  /** The job's token, if it has one. */
  readonly token?: string;
  readonly job: Job;
  /** The exit code of a command that had run the job. */
  readonly exitCode: number;
  /** The result tree, if it was wanted and there is one. */
  readonly result?: StepResult;
  /** The trace as JSON in UTF-8, if it was wanted and there is one. */
  readonly trace?: Uint8Array;
  /** How much output there was. */
  readonly offsets: Offsets;
}
