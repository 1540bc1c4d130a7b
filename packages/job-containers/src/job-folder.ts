import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatIdentity, livenessOf, makePrivateFolder, parseIdentity, processIdentity } from "@steps/platform";
import type { WantedContainers, WantedImage } from "./wanted.ts";

/** The image that the files of a job are given back with, and the folders that they are in. */
export interface Restored extends Pick<WantedContainers, "project" | "stores"> {
  readonly image: Pick<WantedImage, "name">;
}

/** The facts of a job in containers that whoever cleans up after it needs. */
export interface JobRecord {
  /** The id in the labels of its containers. */
  readonly id: string;
  readonly network: string;
  /** The folder that holds the program. */
  readonly program: string;
  readonly wanted: Restored;
}

/** A job's folder below the state directory: what is known of it, and what its service writes. */
export interface JobFolder {
  readonly path: string;
  /** The folder that the service in the container writes to. Its user may be anybody, so all may write there; nobody else gets that far. */
  readonly run: string;
}

const RECORD = "record.json";

/** Makes the folder of a job of this process. @throws the error of the system */
export function createJobFolder(stateDir: string, record: JobRecord): JobFolder {
  const root = join(stateDir, "containers");
  makePrivateFolder(root);
  return fillJobFolder(join(root, `${formatIdentity(processIdentity())}.${randomBytes(6).toString("hex")}`), record);
}

/** Makes the folder of a job at a path that its owner chose. @throws the error of the system */
export function fillJobFolder(path: string, record: JobRecord): JobFolder {
  mkdirSync(path, { mode: 0o700 });
  writeFileSync(join(path, RECORD), JSON.stringify(record), { mode: 0o600 });
  const run = join(path, "run");
  mkdirSync(run);
  chmodSync(run, 0o777);
  return { path, run };
}

/** The folders of jobs whose process is gone, with what is known of each. */
export function abandonedFolders(
  stateDir: string,
): readonly { readonly folder: JobFolder; readonly record: JobRecord }[] {
  const root = join(stateDir, "containers");
  return namesIn(root).flatMap((name) => {
    const owner = parseIdentity(name);
    if (owner === undefined || livenessOf(owner) !== "gone") return [];
    const path = join(root, name);
    const record = readRecord(path);
    if (record !== undefined) return [{ folder: { path, run: join(path, "run") }, record }];
    // Its process was killed before it had started anything.
    removeJobFolder(path);
    return [];
  });
}

/** Removes the folder of a job as far as it lets. Whether it is gone. */
export function removeJobFolder(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    // No job of a container has run yet.
    return [];
  }
}

/** The facts in the folder of a job; `undefined` where there are none. */
export function readRecord(path: string): JobRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(path, RECORD), "utf8")) as JobRecord;
  } catch {
    return undefined;
  }
}
