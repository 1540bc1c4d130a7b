import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace.ts";

/** The folder that adapts what differs between Node.js and the packed executable. */
const ADAPTER = "packages/platform/src/runtime/";
/** Packages of tests and measurements, which run on Node.js alone. */
const ON_NODE = /^packages\/(?:bench|conformance|end-to-end|smoke|testkit)\//;
/** The words that tell one engine from the other. A program that is given to another process may set one. */
const ASKS = /process\.(?:execPath(?! = )|versions?|release|isBun|argv0)\b|\bBun\./;

test("only one folder asks which engine runs the program", () => {
  const sources = globSync("{apps,packages}/*/src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts") && !path.startsWith(ADAPTER) && !ON_NODE.test(path))
    .toSorted();
  expect(sources.length).toBeGreaterThan(500);
  const asking = sources.filter((path) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .some((line) => !/^\s*(?:\/\/|\/?\*)/.test(line) && ASKS.test(line)),
  );
  expect(asking).toEqual([]);
});
