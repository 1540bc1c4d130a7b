import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { findLibraries, findPublished, type Manifest } from "./workspace.ts";

/** The entries of a package, as they are named in `exports`, with the sources behind them. */
function sourcesOf({ exports }: Manifest): readonly (readonly [subpath: string, source: string])[] {
  return Object.entries(exports as Readonly<Record<string, { readonly "steps-source"?: string }>>).flatMap(
    ([subpath, { "steps-source": source }]) => (source === undefined ? [] : [[subpath, source] as const]),
  );
}

describe("the public names of all packages", () => {
  test("are those of exports.txt", async () => {
    const parts = findPublished()
      .filter(({ manifest }) => manifest.bin !== undefined)
      .map(
        ({ name, manifest }) =>
          `${name}\n${Object.keys(manifest.bin ?? {})
            .map((bin) => `  command ${bin}\n`)
            .join("")}`,
      );
    for (const { name, dir, manifest } of findLibraries()) {
      for (const [subpath, source] of sourcesOf(manifest)) {
        const entry = (await import(pathToFileURL(join(dir, source)).href)) as object;
        const names = Object.keys(entry).toSorted();
        parts.push(`${name}${subpath.slice(1)}\n${names.map((key) => `  ${key}\n`).join("")}`);
      }
    }
    await expect(parts.join("\n")).toMatchFileSnapshot("../exports.txt");
  });
});
