import type { OutputStreams } from "../../output/output-pump.ts";

/** A program to start in a group of its own. */
export interface SpawnOrder {
  /** Absolute. */
  readonly program: string;
  /** With the program's name as the author wrote it. */
  readonly command: readonly string[];
  readonly workDir: string;
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The end of a process. Without a code and a signal it could not be started, or nobody knows how it ended. */
export interface SpawnedEnd {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly spawnError?: NodeJS.ErrnoException;
}

/** A process that was started. */
export interface Spawned {
  readonly pid: number;
  /** Never rejects. */
  readonly exit: Promise<SpawnedEnd>;
  readonly streams: OutputStreams;
}

/** One that was not, or of which nobody knows (`isLost()`). */
export interface NotSpawned {
  readonly spawnError: NodeJS.ErrnoException;
}

const NO_ROOM: ReadonlySet<string | undefined> = new Set(["EAGAIN", "EMFILE", "ENFILE"]);

/** Whether the process could be started if others ended. */
export function hasNoRoom({ code }: NodeJS.ErrnoException): boolean {
  return NO_ROOM.has(code);
}

const LOST = "SPAWNER_LOST";

/** The error of a process whose end, or start, is not known since its parent was killed. */
export function lostError(): NodeJS.ErrnoException {
  return Object.assign(new Error("The program that starts processes was killed"), { code: LOST });
}

export function isLost(error: NodeJS.ErrnoException | undefined): boolean {
  return error?.code === LOST;
}
