import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { findLibraries, findPublished } from "./workspace.ts";

describe("the public names of all packages", () => {
  it("are those of exports.txt", async () => {
    const parts = findPublished()
      .filter(({ manifest }) => manifest.bin !== undefined)
      .map(
        ({ name, manifest }) =>
          `${name}\n${Object.keys(manifest.bin ?? {})
            .map((bin) => `  command ${bin}\n`)
            .join("")}`,
      );
    for (const { name, dir } of findLibraries()) {
      const entry = (await import(pathToFileURL(join(dir, "src", "index.ts")).href)) as object;
      parts.push(
        `${name}\n${Object.keys(entry)
          .toSorted()
          .map((key) => `  ${key}\n`)
          .join("")}`,
      );
    }
    await expect(parts.join("\n")).toMatchFileSnapshot("../exports.txt");
  });
});
