import type { CommandLine } from "@steps/console";
import { join, resolve } from "node:path";
import { createEngine, type Engine, type TraceSync } from "@steps/engine";
import { readLock, readSources } from "./component-flags.ts";
import { launcherDirectory } from "./launcher.ts";
import { allowedExports } from "./allowed-exports.ts";
import { cacheOptions } from "./cache-options.ts";
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
  const sources = readSources(line);
  const lock = readLock(line);
  return createEngine({
    runner: { name: "step-runner", version: VERSION },
    program: ownProgram,
    allowedExports: allowedExports(line),
    cacheDir,
    stateDir,
    traceSync: traceSync === undefined ? undefined : (traceSync as TraceSync),
    ...(sources.length === 0 ? {} : { sources }),
    lock,
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
