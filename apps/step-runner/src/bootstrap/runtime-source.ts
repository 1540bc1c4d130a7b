import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findLibraries } from "@steps/containers/own-program";
import { messageOf } from "@steps/model";
import { ownCommand, packedProgram, runtimeVersion } from "@steps/platform/runtime";
import { VERSION } from "../version.ts";
import { BootstrapError } from "./bootstrap-error.ts";
import { ownStart } from "./start.ts";

/** A file of a runtime folder. */
interface RuntimeFile {
  /** The path of the file in the folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Describes the contents of a runtime folder; it is kept there as `runtime.json`. */
export interface RuntimeManifest {
  readonly version: string;
  readonly node: string;
  /** The digest of the names and contents of all files: two folders with the same digest are equal. */
  readonly digest: string;
  /** Arguments that its loader takes before the program. */
  readonly loaderArgs: readonly string[];
  readonly files: readonly RuntimeFile[];
}

/** A runtime that can be copied: its manifest, and where each file of it is now. */
export interface RuntimeSource {
  readonly manifest: RuntimeManifest;
  readonly sourceOf: (file: RuntimeFile) => string;
}

export const MANIFEST_NAME = "runtime.json";
/** The program of a runtime folder: Node.js, which runs `app/main.cjs`. */
const NODE_NAME = "node";
/** The program of a runtime folder: the executable that holds ours. */
const PACKED_NAME = "step-runner";
/** The number of bytes that are read at once. */
const CHUNK_BYTES = 1_048_576;

/**
 * Finds the files of the running program: Node and our bundle, or the executable that holds both; its loader and its libraries. A
 * program that was started by a launcher has them in one folder, with a manifest.
 *
 * @throws {BootstrapError} BOOTSTRAP_UNSUPPORTED, BOOTSTRAP_BROKEN
 */
export function findRuntime(): RuntimeSource {
  const { runtimeDir } = ownStart();
  if (runtimeDir !== undefined)
    return { manifest: readManifest(runtimeDir), sourceOf: (file) => join(runtimeDir, file.path) };
  const program = realpathSync(ownCommand()[0]);
  const { loader, loaderArgs, libraries } = findLibraries(program);
  const app = packedProgram() === undefined ? bundleFiles() : [];
  const sources = new Map([
    ["ld.so", loader],
    [packedProgram() === undefined ? NODE_NAME : PACKED_NAME, program],
    ...libraries.map(({ name, path }) => [`lib/${name}`, path] as const),
    ...app.map(({ name, path }) => [`app/${name}`, path] as const),
  ]);
  const files = [...sources].map(([path, source]) => ({ path, ...measure(source) }));
  const digest = createHash("sha256")
    .update(files.map(({ path, sha256 }) => `${path}\0${sha256}\n`).join(""))
    .digest("hex")
    .slice(0, 16);
  return {
    manifest: { version: VERSION, node: runtimeVersion(), digest, loaderArgs, files },
    sourceOf: (file) => sources.get(file.path) as string,
  };
}

function bundleFiles(): { readonly name: string; readonly path: string }[] {
  const main = realpathSync(process.argv[1] ?? "");
  if (basename(main) !== "main.cjs")
    throw new BootstrapError("BOOTSTRAP_UNSUPPORTED", "Only the built command can be put somewhere else", {
      hint: `What runs is "${main}".`,
    });
  return readdirSync(dirname(main), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => ({ name, path: join(parentPath, name) }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function measure(path: string): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const fd = openSync(path, "r");
  try {
    let bytes = 0;
    for (;;) {
      const size = readSync(fd, chunk);
      if (size === 0) return { bytes, sha256: hash.digest("hex") };
      hash.update(chunk.subarray(0, size));
      bytes += size;
    }
  } finally {
    closeSync(fd);
  }
}

/** Names the program of a runtime and the file that it runs, if it is one that runs files; both are paths in its folder. */
export function programOf({ files }: RuntimeManifest): readonly string[] {
  return files.some(({ path }) => path === PACKED_NAME) ? [PACKED_NAME] : [NODE_NAME, "app/main.cjs"];
}

/** Reads the manifest of a runtime folder. @throws {BootstrapError} BOOTSTRAP_BROKEN */
export function readManifest(runtimeDir: string): RuntimeManifest {
  try {
    return JSON.parse(readFileSync(join(runtimeDir, MANIFEST_NAME), "utf8")) as RuntimeManifest;
  } catch (cause) {
    throw new BootstrapError("BOOTSTRAP_BROKEN", `Cannot read the manifest of "${runtimeDir}": ${messageOf(cause)}`, {
      cause,
    });
  }
}

/** Tells whether a folder holds all files of a manifest; what they hold is not read. */
export function isComplete(runtimeDir: string, manifest: RuntimeManifest): boolean {
  return manifest.files.every(({ path, bytes }) => {
    const stat = statSync(join(runtimeDir, path), { throwIfNoEntry: false });
    return stat !== undefined && stat.isFile() && stat.size === bytes;
  });
}
