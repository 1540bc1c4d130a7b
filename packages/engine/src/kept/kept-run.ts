import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isAlive, listRuns, type RunDirectory, type RunKind } from "../run-directory.ts";

/** A run or a pipeline whose folder is kept, as its journal tells it. */
export interface KeptRun {
  /** The id of its trace: 32 hex digits. */
  readonly id: string;
  readonly kind: "job" | "pipeline";
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The file, the reference or `STEPS`, as the user named it. */
  readonly source: string;
  /** Absent for a pipeline, and for a job without a name. */
  readonly jobName?: string | undefined;
  /** `running`: its process is still there. `interrupted`: the process is gone, and did not write the end. */
  readonly status: string;
  /** Absent for one that has no end. */
  readonly durationMs?: number | undefined;
}

/** The folder of a run that is kept. */
export interface KeptDirectory extends RunDirectory {
  readonly kind: RunKind;
}

const MIN_PREFIX = 4;

/** The folders of all runs and pipelines that are kept, the newest first. */
export function keptDirectories(stateDir: string): KeptDirectory[] {
  const kinds: readonly RunKind[] = ["runs", "pipelines"];
  const found = kinds.flatMap((kind) => listRuns(stateDir, kind).map((run) => ({ ...run, kind })));
  return found.toSorted((a, b) => (nameOf(a) < nameOf(b) ? 1 : -1));
}

/** Those whose id begins with the text, which has at least four hex digits; none for any other text. */
export function keptNamed(stateDir: string, id: string): KeptDirectory[] {
  if (id.length < MIN_PREFIX || !/^[0-9a-f]{4,32}$/.test(id)) return [];
  return keptDirectories(stateDir).filter(({ traceId }) => traceId.startsWith(id));
}

/** The facts of a run, from the two ends of its journal; `undefined` if the journal is gone or cannot be read. */
export function describeKept(directory: KeptDirectory): KeptRun | undefined {
  const ends = readEnds(directory.journal);
  const first = ends && parse(ends.first);
  if (ends === undefined || first === undefined) return undefined;
  const last = parse(ends.last);
  const end = last !== undefined && ENDS.has(text(last["type"])) ? last : undefined;
  const startedAt = Number(first["at"]);
  const request = record(first["request"]);
  const isPipeline = directory.kind === "pipelines";
  return {
    id: directory.traceId,
    kind: isPipeline ? "pipeline" : "job",
    startedAt,
    source: text(isPipeline ? first["source"] : request["source"]),
    jobName: text(request["jobName"]) || undefined,
    status: end === undefined ? statusWithout(directory) : text(end["status"] ?? record(end["outcome"])["status"]),
    durationMs: end === undefined ? undefined : Number(end["at"]) - startedAt,
  };
}

const ENDS: ReadonlySet<string> = new Set(["run-finished", "pipeline-finished"]);
const PIECE_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 10;

// A journal may be long, and only its first and its last line are wanted.
function readEnds(path: string): { readonly first: string; readonly last: string } | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(fd);
    return { first: readFirst(fd, size), last: readLast(fd, size) };
  } finally {
    closeSync(fd);
  }
}

function readFirst(fd: number, size: number): string {
  for (let bytes = PIECE_BYTES; ; bytes *= 4) {
    const piece = readPiece(fd, 0, Math.min(bytes, size));
    const end = piece.indexOf(LINE_FEED);
    if (end >= 0) return piece.toString("utf8", 0, end);
    if (bytes >= Math.min(size, MAX_LINE_BYTES)) return "";
  }
}

function readLast(fd: number, size: number): string {
  for (let bytes = PIECE_BYTES; ; bytes *= 4) {
    const taken = Math.min(bytes, size);
    const piece = readPiece(fd, size - taken, taken);
    const end = piece.at(-1) === LINE_FEED ? piece.length - 1 : piece.length;
    const start = piece.lastIndexOf(LINE_FEED, end - 1);
    if (start >= 0 || taken === size) return piece.toString("utf8", start + 1, end);
    if (bytes >= MAX_LINE_BYTES) return "";
  }
}

function readPiece(fd: number, position: number, length: number): Buffer {
  const piece = Buffer.alloc(length);
  return piece.subarray(0, readSync(fd, piece, 0, length, position));
}

function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function statusWithout(directory: RunDirectory): string {
  return isAlive(directory) ? "running" : "interrupted";
}

function nameOf({ path }: RunDirectory): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
