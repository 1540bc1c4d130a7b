import { join, resolve } from "node:path";
import { createEngine, type Engine, type EngineOptions } from "@steps/engine";
import { type LockOptions, readLock, type SourceOptions, sourcesOf } from "./flags/component-flags.ts";
import { launcherDirectory } from "./launcher.ts";
import { cacheOptions } from "./flags/cache-options.ts";
import type { FetchOptions, RunOptions } from "./flags/run-flags.ts";
import { VERSION } from "./version.ts";

/** The options of a command that say something to the engine; one that is absent has the engine's default. */
export type EngineFlagOptions = Partial<
  FetchOptions & SourceOptions & LockOptions & Pick<RunOptions, "stateDir" | "traceSync" | "allowExport">
>;

/** The options that a command gives to its engine besides the flags. */
export interface OwnEngineOptions extends Pick<EngineOptions, "reaper" | "pipeReserve" | "spawner"> {
  /** Files that are no part of a local component, though they may lie in its folder. */
  readonly excluded?: readonly (string | undefined)[];
}

/** An engine as the options of a command want it. */
export function openEngine(options: EngineFlagOptions, { excluded = [], ...own }: OwnEngineOptions = {}): Engine {
  const { cacheDir, stateDir, traceSync, allowExport } = options;
  return createEngine({
    runner: { name: "step-runner", version: VERSION },
    program: ownProgram,
    ...own,
    allowedExports: allowExport,
    cacheDir,
    stateDir,
    traceSync,
    sources: sourcesOf(options).map(({ source }) => source),
    lock: readLock(options),
    cache: {
      ...cacheOptions(options),
      excluded: excluded.flatMap((path) => (path === undefined ? [] : [resolve(path)])),
    },
  });
}

/** A program that starts this one again, for built-in steps and for the reaper. */
export function ownProgram(stateDir: string): string {
  return join(launcherDirectory(stateDir), "step-runner");
}
