import { type CommandLine, UsageError } from "@steps/console";
import { join, resolve } from "node:path";
import { createEngine, type Engine, type EngineOptions, type TraceSync } from "@steps/engine";
import { launcherDirectory } from "./launcher.ts";
import { VERSION } from "./version.ts";

/**
 * An engine as the flags of a command want it; a flag that the command lacks keeps its default. `excluded` files are no
 * part of a local component, though they may lie in its folder.
 */
export function openEngine(
  line: CommandLine,
  options: { readonly excluded?: readonly (string | undefined)[] } = {},
): Engine {
  const cacheDir = line.string("cache-dir");
  const stateDir = line.string("state-dir");
  const traceSync = line.string("trace-sync");
  return createEngine({
    runner: { name: "step-runner", version: VERSION },
    program: ownProgram,
    ...(cacheDir === undefined ? {} : { cacheDir }),
    ...(stateDir === undefined ? {} : { stateDir }),
    ...(traceSync === undefined ? {} : { traceSync: traceSync as TraceSync }),
    cache: {
      ...cacheOptions(line),
      excluded: (options.excluded ?? []).flatMap((path) => (path === undefined ? [] : [resolve(path)])),
    },
  });
}

/** A program that starts this one again, for built-in steps. */
export function ownProgram(stateDir: string): string {
  return join(launcherDirectory(stateDir), "step-runner");
}

/** How components are fetched, as `fetchFlags` say. */
export function cacheOptions(line: CommandLine): NonNullable<EngineOptions["cache"]> {
  const git = line.string("git");
  return {
    ...(git === undefined ? {} : { git: git as "auto" | "system" | "isomorphic" }),
    isOffline: line.boolean("offline"),
    mirrors: readMirrors(line.list("mirror")),
  };
}

function readMirrors(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts
      .flatMap((text) => text.split(/[\s,]+/))
      .filter((text) => text !== "")
      .map((text) => {
        const split = text.indexOf("=", text.indexOf("://"));
        if (split < 1) throw new UsageError(`--mirror has a part that is not PREFIX=PREFIX: "${text}"`);
        return [text.slice(0, split), text.slice(split + 1)];
      }),
  );
}
