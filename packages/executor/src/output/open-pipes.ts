import { closeSync, fstatSync } from "node:fs";
import type { makePipe, Pipe } from "@steps/platform/runtime";

/** The pipes of one process, without names in any folder. */
export interface OpenPipes {
  readonly stdout: Pipe;
  readonly stderr: Pipe;
  /** The names by which `/proc` shows who holds them. */
  readonly paths: ReadonlySet<string>;
}

/** Makes both pipes of a process. `undefined` where the engine cannot, or has no descriptors left. */
export function openPipes(make: typeof makePipe): OpenPipes | undefined {
  const stdout = make();
  if (stdout === undefined) return undefined;
  const stderr = make();
  if (stderr !== undefined) return { stdout, stderr, paths: new Set([nameOf(stdout), nameOf(stderr)]) };
  close(stdout);
  return undefined;
}

/** Closes pipes that no process got. */
export function closePipes({ stdout, stderr }: OpenPipes): void {
  close(stdout);
  close(stderr);
}

function close({ reader, writer }: Pipe): void {
  closeSync(reader);
  closeSync(writer);
}

function nameOf({ reader }: Pipe): string {
  return `pipe:[${fstatSync(reader).ino}]`;
}
