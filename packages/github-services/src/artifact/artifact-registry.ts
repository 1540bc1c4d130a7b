import { constants } from "node:fs";
import { copyFile, link, mkdir, unlink } from "node:fs/promises";
import { extname, join } from "node:path";
import { systemCode } from "../error.ts";
import { tooLarge } from "../http/http-error.ts";

const MAX_SUFFIX = 1_000;

/** An artifact that is finished. */
export interface StoredArtifact {
  readonly id: number;
  readonly name: string;
  /** The generation of the protocol that made the artifact; each generation sees its own. */
  readonly protocol: "v3" | "v4";
  /** A file (v4) or a folder (v3). */
  readonly path: string;
  readonly bytes: number;
  /** `sha256:<hex>` of the file. */
  readonly digest?: string;
  readonly mimeType?: string;
  readonly createdAtMs: number;
}

/** Artifacts of a job, or of the jobs of a pipeline, by their names and numbers. */
export interface ArtifactRegistry {
  readonly all: () => readonly StoredArtifact[];
  readonly find: (protocol: StoredArtifact["protocol"], name: string) => StoredArtifact | undefined;
  /** Records an artifact, instead of one of the same protocol and name. */
  readonly put: (artifact: StoredArtifact) => void;
  readonly remove: (artifact: StoredArtifact) => void;
  /** A number that no artifact had yet; refused when there are too many artifacts. */
  readonly nextId: () => number;
}

/** An empty registry. @param maxArtifacts the number that it holds; `nextId()` refuses more */
export function createArtifactRegistry(maxArtifacts: number): ArtifactRegistry {
  const artifacts = new Map<string, StoredArtifact>();
  let lastId = 0;
  return {
    all: () => [...artifacts.values()],
    find: (protocol, name) => artifacts.get(`${protocol}/${name}`),
    put: (artifact) => void artifacts.set(`${artifact.protocol}/${artifact.name}`, artifact),
    remove: (artifact) => void artifacts.delete(`${artifact.protocol}/${artifact.name}`),
    nextId: () => {
      if (artifacts.size >= maxArtifacts) throw tooLarge(`A job has no more than ${maxArtifacts} artifacts`);
      lastId += 1;
      return lastId;
    },
  };
}

/** Moves a file to a name in a folder, or to `name-2.ext` and so on where something is there; never over it. */
export async function moveToFreeName(source: string, dir: string, name: string): Promise<string> {
  return await atFreeName(dir, name, async (path) => {
    try {
      await link(source, path);
    } catch (error) {
      if (systemCode(error) === "EEXIST") throw error;
      // A file system without hard links.
      await copyFile(source, path, constants.COPYFILE_EXCL);
    }
    await unlink(source);
  });
}

/** Makes a folder of a name in a folder, or of `name-2` and so on where something is there. */
export async function makeFreeFolder(dir: string, name: string): Promise<string> {
  return await atFreeName(dir, name, async (path) => {
    await mkdir(path);
  });
}

async function atFreeName(dir: string, name: string, make: (path: string) => Promise<void>): Promise<string> {
  const extension = extname(name);
  for (let count = 1; ; count += 1) {
    const free = count === 1 ? name : `${name.slice(0, name.length - extension.length)}-${count}${extension}`;
    try {
      await make(join(dir, free));
      return join(dir, free);
    } catch (error) {
      if (systemCode(error) !== "EEXIST" || count === MAX_SUFFIX) throw error;
    }
  }
}
