import { join } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { expect, test } from "vitest";
import { root } from "./workspace.ts";

const COMMAND = join(root, "apps/step-runner/src");

/** Loads little by itself, and is needed by each run. The others bring Node's streams along, or are loaded when they are needed. */
const LIGHT = ["node:buffer", "node:fs", "node:os", "node:path", "node:timers/promises"];

test("a job of scripts loads none of Node's modules that take as long as a short step", async () => {
  const bundle = await rolldown({
    input: join(COMMAND, "main.ts"),
    platform: "node",
    resolve: { conditionNames: ["steps-source", "node", "default"] },
    external: ["@electric-sql/pglite", "cpu-features", /sshcrypto\.node$/],
    onLog: () => {},
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file]] : [])));
  const imported = ["main.ts", "run-main.ts", "commands/ci.ts"].flatMap((path) => importsOf(path, chunks));
  expect([...new Set(imported)].toSorted()).toEqual(LIGHT);
});

/** The modules of Node that a module of ours imports, by itself or by what it imports. */
function importsOf(path: string, chunks: ReadonlyMap<string, OutputChunk>): string[] {
  const first = [...chunks.values()].find(({ facadeModuleId }) => facadeModuleId === join(COMMAND, path));
  const reached = new Set(first === undefined ? [] : [first.fileName]);
  // A set that grows while it is walked.
  for (const name of reached) for (const imported of chunks.get(name)?.imports ?? []) reached.add(imported);
  // The bundler makes a `require` for modules that call one.
  return [...reached].filter((name) => !chunks.has(name) && name !== "node:module");
}
