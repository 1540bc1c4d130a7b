import type { Dial } from "@steps/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerConfig } from "../config/runner-config.ts";

/** The folders and programs of a process that takes jobs. */
export interface RunnerPlace {
  /** The folder in which jobs, projects and caches are kept: absolute, for the user alone. */
  readonly stateDir: string;
  /** The command `step-runner`: absolute. */
  readonly stepRunner: string;
}

/** A job that needs a place. */
export interface PlacedJob {
  readonly config: RunnerConfig;
  readonly place: RunnerPlace;
  /** The id of this machine for its servers. */
  readonly systemId: string;
  readonly payload: JobPayload;
  /** The variables of the job, filled in. */
  readonly variables: Readonly<Record<string, string>>;
  /** The job's own folder on this machine. */
  readonly folder: string;
  readonly slot: number;
  /** The facts that `remember()` was given, also by a process that was killed; empty at first. */
  readonly remembered: Readonly<Record<string, string>>;
  /** Puts on the disk what is needed to find the place again, before it is made. */
  readonly remember: (facts: Readonly<Record<string, string>>) => void;
  /** True when a service may know the job already: then nothing is made anew in its place. */
  readonly isStarted: boolean;
  /** Says something in the trace. */
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A runner that starts, and the jobs that it knows. */
export interface SweptRunner {
  readonly config: RunnerConfig;
  readonly place: RunnerPlace;
  readonly systemId: string;
  /** Whether a job is on the disk now, by the last part of the name of its folder. */
  readonly isKept: (attempt: string) => boolean;
}

/** The folders of a job where it runs. */
export interface JobFolders {
  readonly buildsDir: string;
  readonly projectDir: string;
  /** Absent where caches have no place. */
  readonly cacheDir: string | undefined;
}

/** A place with a service that runs jobs. */
export interface JobPlace {
  readonly dial: Dial;
  /** Variables of the environment that the job starts from. */
  readonly env: Readonly<Record<string, string>>;
  /** Why the place is gone; `undefined` when it is there. */
  problem(): Promise<string | undefined>;
}

/** A kind of place. */
export interface Executor {
  /** True when the service is there for other jobs too, and has to be told that this one is not needed any more. */
  readonly sharesService: boolean;
  /** The folders of a job, known before its place is. */
  folders(job: Pick<PlacedJob, "config" | "place" | "payload" | "slot">): JobFolders;
  /** Makes the place of a job, or finds it again. @throws {StepsError} */
  open(job: PlacedJob): Promise<JobPlace>;
  /** Removes it with all that was made, also after a kill; what is not there is no mistake. */
  remove(job: PlacedJob): Promise<void>;
  /** Removes the places of jobs that are not on the disk any more. Gives the names of what was removed. @throws {StepsError} */
  sweep?(runner: SweptRunner): Promise<readonly string[]>;
  /** Ends the connections that jobs share, when no more jobs come. Default: there are none. */
  close?(): Promise<void>;
}
