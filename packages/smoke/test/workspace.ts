import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const root: string = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** A package of the workspace that is published. */
export interface Published {
  readonly name: string;
  /** Absolute. */
  readonly dir: string;
  readonly manifest: Manifest;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports?: unknown;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export function readManifest(dir: string): Manifest {
  return JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as Manifest;
}

/** Every package of `packages/` and `apps/` that is not private. */
export function findPublished(): readonly Published[] {
  return ["packages", "apps"]
    .flatMap((parent) =>
      readdirSync(join(root, parent))
        .toSorted()
        .map((name) => join(root, parent, name)),
    )
    .filter((dir) => existsSync(join(dir, "package.json")))
    .map((dir) => ({ dir, manifest: readManifest(dir) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ dir, manifest }) => ({ name: manifest.name, dir, manifest }));
}

/** Those that can be imported; the others only have commands. */
export function findLibraries(): readonly Published[] {
  return findPublished().filter(({ manifest }) => manifest.exports !== undefined);
}

/** A published package with all those of ours that it depends on, in any depth. */
export function closureOf(name: string, published: readonly Published[]): readonly Published[] {
  const names = new Set([name]);
  // A set that grows is walked to its end.
  for (const at of names) {
    const found = published.find((one) => one.name === at);
    for (const own of Object.keys(found?.manifest.dependencies ?? {})) if (own.startsWith("@steps/")) names.add(own);
  }
  return published.filter((one) => names.has(one.name));
}

/** Outputs that a library's files in `src` should have in its `dist`, and has not. */
export function missingOutputs(dir: string): readonly string[] {
  const { sources, outputs } = builtNames(dir);
  return sources.filter((name) => !outputs.includes(name)).map((name) => `${relative(root, dir)}/dist/${name}.js`);
}

/** Outputs of files that are gone: `tsc -b` leaves them behind. */
export function leftovers(dir: string): readonly string[] {
  const { sources, outputs } = builtNames(dir);
  return outputs.filter((name) => !sources.includes(name)).map((name) => `${relative(root, dir)}/dist/${name}.js`);
}

function builtNames(dir: string): { readonly sources: readonly string[]; readonly outputs: readonly string[] } {
  const sources = filesBelow(join(dir, "src"), ".ts").filter((path) => !/\.(?:test|d)\.ts$/.test(path));
  return { sources: sources.map(stem), outputs: filesBelow(join(dir, "dist"), ".js").map(stem) };
}

function stem(path: string): string {
  return path.replace(/\.(?:ts|js)$/, "");
}

/** Paths of the files below a folder that end so, relative to it; none if it is not there. */
export function filesBelow(dir: string, end: string): readonly string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(end))
    .toSorted();
}
