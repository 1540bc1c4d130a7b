import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LibrariesError } from "./libraries-error.ts";
import { readElf } from "./read-elf.ts";

/** The files that a program needs besides itself to start in an empty place. */
export interface Libraries {
  /** The program that loads it, which is also its C library with musl. */
  readonly loader: string;
  /** Arguments that the loader takes before the program. */
  readonly loaderArgs: readonly string[];
  /** By the names that the loader looks for. */
  readonly libraries: readonly { readonly name: string; readonly path: string }[];
}

/** The libraries that glibc loads by itself to look up names; since 2.34 most of them are built in. */
const GLIBC_EXTRAS: readonly string[] = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];

/**
 * Finds the loader and the libraries of the running program by what is mapped into its memory, so it does not matter which
 * C library that is or where it lies.
 *
 * @throws {LibrariesError} BOOTSTRAP_UNSUPPORTED
 */
export function findLibraries(program: string): Libraries {
  const interpreter = readElf(program)?.interpreter;
  if (interpreter === undefined)
    throw new LibrariesError("BOOTSTRAP_UNSUPPORTED", `Cannot carry "${program}" along: it does not name its loader`, {
      hint: "It has to be a dynamically linked Node for Linux.",
    });
  const loader = realpathSync(interpreter);
  const mapped = mappedPrograms(readFileSync("/proc/self/maps", "utf8"));
  const libraries = mapped
    .filter((path) => path !== program && path !== loader)
    .map((path) => ({ name: readElf(path)?.soname ?? basename(path), path }));
  const libc = libraries.find(({ name }) => name === "libc.so.6");
  return {
    loader,
    // The cache of the image names libraries of the image.
    loaderArgs: libc === undefined ? [] : ["--inhibit-cache"],
    libraries: [...libraries, ...(libc === undefined ? [] : glibcExtras(dirname(libc.path), libraries))].toSorted(
      (left, right) => (left.name < right.name ? -1 : 1),
    ),
  };
}

/** The files of which a process executes something, by its `/proc/PID/maps`. */
export function mappedPrograms(maps: string): string[] {
  const paths = maps.split("\n").flatMap((row) => {
    const [, path] = /^\S+ ..x\S* \S+ \S+ \S+ +(\/.*)$/.exec(row) ?? [];
    return path === undefined ? [] : [path];
  });
  const deleted = paths.find((path) => path.endsWith(" (deleted)"));
  if (deleted !== undefined)
    throw new LibrariesError("BOOTSTRAP_BROKEN", `Cannot copy "${deleted.slice(0, -10)}": it was removed meanwhile`);
  return [...new Set(paths)];
}

function glibcExtras(dir: string, known: Libraries["libraries"]): { name: string; path: string }[] {
  return GLIBC_EXTRAS.filter((name) => !known.some((library) => library.name === name))
    .map((name) => ({ name, path: join(dir, name) }))
    .filter(({ path }) => existsSync(path));
}
