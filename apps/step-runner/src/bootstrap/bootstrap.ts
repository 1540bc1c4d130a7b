import { randomBytes } from "node:crypto";
import { chmodSync, copyFileSync, cpSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { BootstrapError } from "./bootstrap-error.ts";
import { CERTIFICATES_NAME } from "./certificates.ts";
import { installRuntime, makeFolder, totalBytes } from "./install-runtime.ts";
import { LAUNCHER_CODES, launcherElf } from "./launcher-elf.ts";
import { findRuntime, programOf } from "./runtime-source.ts";
import { markSuperseded, sweepRuntimes } from "./sweep-runtimes.ts";

/** The files that a bootstrap made. */
export interface Bootstrapped {
  /** The launcher. */
  readonly path: string;
  readonly runtimeDir: string;
  /** The size of the runtime. */
  readonly bytes: number;
}

export interface BootstrapOptions {
  /** Called before a runtime is copied, with its size; not when it is there already. */
  readonly onCopy?: (bytes: number) => void;
  /** The folder with `ca-certs.pem` and `git`, which are copied along; the root of the file system by default. */
  readonly root?: string;
}

/**
 * Leaves a program at a path that is this program and runs in any Linux container, whatever libraries that has: a launcher
 * of about a kilobyte, with a private runtime in a hidden folder beside it. The folder they are in may be moved.
 *
 * @throws {BootstrapError} BOOTSTRAP_UNSUPPORTED, BOOTSTRAP_BROKEN
 */
export function bootstrap(destination: string, options: BootstrapOptions = {}): Bootstrapped {
  const code = process.platform === "linux" ? LAUNCHER_CODES[process.arch] : undefined;
  if (code === undefined)
    throw new BootstrapError(
      "BOOTSTRAP_UNSUPPORTED",
      `There is no launcher for ${process.platform} on ${process.arch}`,
      { hint: "There are launchers for Linux on x64 and arm64." },
    );
  const path = resolve(destination);
  const place = { dir: dirname(path), launcher: basename(path) };
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new BootstrapError("BOOTSTRAP_BROKEN", `Cannot write "${path}": it is a folder`);
  makeFolder(place.dir);
  const source = findRuntime();
  const runtime = installRuntime(source, { ...place, ...(options.onCopy === undefined ? {} : options) });
  markSuperseded(place, runtime);
  const args = [
    { text: "--library-path" },
    { beside: `${runtime}/lib` },
    ...source.manifest.loaderArgs.map((text) => ({ text })),
    ...programOf(source.manifest).map((file) => ({ beside: `${runtime}/${file}` })),
  ];
  replaceFile(path, 0o755, (draft) => writeFileSync(draft, launcherElf(code, { program: `${runtime}/ld.so`, args })));
  copyExtras(options.root ?? "/", place.dir);
  sweepRuntimes(place, runtime);
  return { path, runtimeDir: join(place.dir, runtime), bytes: totalBytes(source.manifest) };
}

/** The certificates and the git that a helper image may have at fixed places. */
function copyExtras(root: string, dir: string): void {
  const certificates = join(root, "ca-certs.pem");
  if (existsSync(certificates))
    replaceFile(join(dir, CERTIFICATES_NAME), 0o644, (draft) => copyFileSync(certificates, draft));
  const git = join(root, "git");
  if (existsSync(git) && resolve(git) !== join(dir, "git"))
    cpSync(git, join(dir, "git"), { recursive: true, verbatimSymlinks: true, force: true });
}

/** Puts a file in place in one go; a program that runs from the old one keeps it. */
function replaceFile(path: string, mode: number, write: (draft: string) => void): void {
  const draft = join(dirname(path), `.${basename(path)}-${randomBytes(8).toString("hex")}`);
  try {
    write(draft);
    chmodSync(draft, mode);
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
