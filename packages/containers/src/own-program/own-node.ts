import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isStepsError } from "@steps/model";
import { findProgram } from "@steps/platform/processes";
import { ownNode } from "@steps/platform/runtime";
import { findLibraries } from "./find-libraries.ts";
import { bindOption } from "../client/docker-command.ts";

/** A Node.js that runs in a container, whatever libraries that has. */
export interface CarriedNode {
  /** Options of the client. */
  readonly mounts: readonly string[];
  /** The file to run and its arguments come behind it. */
  readonly command: readonly string[];
}

/** The path of our Node.js in a container. */
const PLACE = "/__steps/node";

/**
 * The running Node.js with its loader and its libraries, each seen under another path: nothing is copied. The packed executable takes
 * the `node` of the PATH. `undefined` where that cannot be done, as on a Mac.
 *
 * @param dir absolute, seen in the container under the same path: for what makes up for the loader
 */
export function carryNode(dir: string): CarriedNode | undefined {
  const files = process.platform === "linux" ? findFiles() : undefined;
  if (files === undefined) return undefined;
  const { node, loader, libraries, loaderArgs } = files;
  const mounts = [
    bindOption(node, `${PLACE}/node`, "ro"),
    bindOption(loader, `${PLACE}/ld.so`, "ro"),
    ...libraries.map(({ name, path }) => bindOption(path, `${PLACE}/lib/${name}`, "ro")),
  ];
  const place = { node: `${PLACE}/node`, loader: `${PLACE}/ld.so`, lib: `${PLACE}/lib`, loaderArgs };
  return { mounts, command: startByLoader(place, dir) };
}

/**
 * Returns the command that starts the running Node.js if its own loader started it, in which case `process.execPath` is
 * the loader's path; `undefined` when that path is Node.js itself. The file to run and its arguments follow the
 * command.
 *
 * @param dir as for `carryNode()`
 */
export function launchedNode(dir: string): readonly string[] | undefined {
  const { program } = ownNode() ?? {};
  if (program === undefined || basename(program) !== "ld.so") return undefined;
  return startByLoader({ ...besideLoader(program), lib: join(dirname(program), "lib") }, dir);
}

// The kernel starts the loader here, and a program that starts itself again by `process.execPath` must not get the
// loader.
function startByLoader(
  { node, loader, lib, loaderArgs }: Omit<Files, "libraries"> & { readonly lib: string },
  dir: string,
): readonly string[] {
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  const program = join(dir, "node");
  const preload = join(dir, "exec-path.cjs");
  const command = [loader, "--library-path", lib, ...loaderArgs, node, "--require", preload];
  const words = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  writeFileSync(program, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  writeFileSync(preload, `process.execPath = process.argv[0] = ${JSON.stringify(program)};\n`, { mode: 0o644 });
  return command;
}

interface Files {
  readonly node: string;
  readonly loader: string;
  readonly libraries: readonly { readonly name: string; readonly path: string }[];
  readonly loaderArgs: readonly string[];
}

function findFiles(): Files | undefined {
  const own = ownNode();
  // A runner that was left in a volume is started by its own loader, which has all it needs beside it.
  if (own !== undefined && basename(own.program) === "ld.so") return besideLoader(own.program);
  const program = own?.program ?? findProgram("node", { path: process.env["PATH"], workDir: "/" });
  if (program === undefined) return undefined;
  const node = realpathSync(program);
  try {
    return { node, ...findLibraries(node) };
  } catch (error) {
    if (!isStepsError(error)) throw error;
    return undefined;
  }
}

function besideLoader(loader: string): Files {
  const dir = dirname(loader);
  const lib = join(dir, "lib");
  const libraries = readdirSync(lib).map((name) => ({ name, path: join(lib, name) }));
  const isGlibc = libraries.some(({ name }) => name === "libc.so.6");
  return { node: join(dir, "node"), loader, libraries, loaderArgs: isGlibc ? ["--inhibit-cache"] : [] };
}
