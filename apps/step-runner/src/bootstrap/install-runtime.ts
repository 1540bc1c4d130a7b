import { randomBytes } from "node:crypto";
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { BootstrapError } from "./bootstrap-error.ts";
import { isComplete, MANIFEST_NAME, type RuntimeManifest, type RuntimeSource } from "./runtime-source.ts";

/** Returns the prefix that the folders of a launcher's runtimes have in common. */
export function runtimePrefix(launcher: string): string {
  return `.${launcher}-runtime-`;
}

/**
 * Copies a runtime into a folder and gives the name it has there. It is built aside and renamed, so that it is whole or
 * not there, however many do so at once; one that is there already is taken. Files are never hard links: who may write to
 * the copy may not write to the original. Where the file system shares blocks (btrfs, XFS) nothing is copied at all.
 */
export function installRuntime(
  source: RuntimeSource,
  options: { readonly dir: string; readonly launcher: string; readonly onCopy?: (bytes: number) => void },
): string {
  const prefix = runtimePrefix(options.launcher);
  const name = `${prefix}${source.manifest.digest}`;
  const target = join(options.dir, name);
  if (isComplete(target, source.manifest)) return name;
  options.onCopy?.(totalBytes(source.manifest));
  const draft = join(options.dir, `${prefix}draft-${randomBytes(8).toString("hex")}`);
  try {
    fill(draft, source);
    publish(draft, target, source.manifest);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return name;
}

/** The size of a runtime's files. */
export function totalBytes(manifest: RuntimeManifest): number {
  return manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function fill(draft: string, { manifest, sourceOf }: RuntimeSource): void {
  for (const file of manifest.files) {
    const path = join(draft, file.path);
    const source = sourceOf(file);
    makeFolder(dirname(path));
    copyFileSync(source, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    chmodSync(path, file.path.startsWith("app/") ? 0o644 : 0o755);
    if (statSync(path).size !== file.bytes)
      throw new BootstrapError("BOOTSTRAP_BROKEN", `Cannot copy "${source}": it is not as long as it should be`);
  }
  const path = join(draft, MANIFEST_NAME);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  chmodSync(path, 0o644);
}

/**
 * Makes a folder that everybody may read, and those above it that are missing, whatever the caller's umask. (Node's own
 * way to make several tries for ever where the file system says that there is no such folder, as /proc does.)
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another one was faster.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  chmodSync(path, 0o755);
}

function publish(draft: string, target: string, manifest: RuntimeManifest): void {
  for (;;) {
    try {
      renameSync(draft, target);
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    }
    // Another one was faster.
    if (isComplete(target, manifest)) return;
    setAside(target);
  }
}

/** Takes a broken folder away; it may be gone when another one does the same. */
function setAside(target: string): void {
  const aside = `${target}-${randomBytes(8).toString("hex")}`;
  try {
    renameSync(target, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}
