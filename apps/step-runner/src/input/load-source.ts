import { loadCiSource, type LoadedSource, type SourcePlace } from "@steps/ci-project";
import type { Source } from "@steps/model/diagnostic";
import type { IncludeOptions } from "../flags/include-flags.ts";
import { type EngineFlagOptions, openEngine } from "../open-engine.ts";
import { StopSignals } from "../signals.ts";
import { type GivenSituationOptions, readGivenSituation } from "./read-given-situation.ts";

/** The options that say what a CI file includes, and where that comes from. */
export type LoadSourceOptions = GivenSituationOptions & Partial<IncludeOptions> & EngineFlagOptions;

/** Loads a CI file with all that it includes, in the situation that the flags name. @throws {UsageError} */
export async function loadSource(
  options: LoadSourceOptions,
  source: Source,
  place: SourcePlace,
): Promise<LoadedSource> {
  using stop = new StopSignals();
  const tools = {
    readSituation: () => readGivenSituation(options, { workDir: place.workDir, path: source.name }),
    openEngine: () => openEngine(options),
    signal: stop.signal,
  };
  return await loadCiSource(options, source, { place, tools });
}
