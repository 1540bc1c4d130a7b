import type { Includes } from "@steps/engine/includes";
import {
  type FileRequest,
  type LoadedFile,
  type LoadFailure,
  loadPipeline,
  type LoadPipelineResult,
} from "@steps/gitlab-ci/load";
import { createIncludeRules, createInputTools, type Situation, SituationError } from "@steps/gitlab-ci/rules";
import { collectVariablesOfRules, predefinedVariables } from "@steps/gitlab-ci/variables";
import type { IncludedFile } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";
import type { Resource } from "@steps/model/event";
import type { GivenSituation } from "./local-situation.ts";
import { type IncludeOptions, type IncludePlace, openIncludes } from "./open-includes.ts";

/** The rules for the includes of a CI file, and the names of the secret variables among those that includes use. */
export interface LoadOptions extends IncludeOptions {
  readonly maskVariable?: readonly string[] | undefined;
}

/** The parts that loading needs only if something is included. */
export interface LoadTools {
  readonly readSituation: () => Promise<GivenSituation>;
  /** Opens the cache that included files come through. */
  readonly openEngine: () => IncludePlace["engine"] & AsyncDisposable;
  readonly signal: AbortSignal;
}

/** Gives a file among the artifacts of a job, as an include. */
export type ReadArtifactOfJob = (
  request: Extract<FileRequest, { readonly kind: "artifact" }>,
) => Promise<LoadedFile | LoadFailure>;

/** The place of a CI file, and what is known there. */
export interface SourcePlace {
  /** Absolute: the project's folder. */
  readonly workDir: string;
  /** The variables that includes may use besides those of the situation. */
  readonly predefined: Readonly<Record<string, string>>;
  /** The inputs of the pipeline, as texts. Default: none. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
  /** Gives a file among the artifacts of a job of the pipeline before. Absent where there is none. */
  readonly readArtifact?: ReadArtifactOfJob | undefined;
  /** The situation; absent where it is to be read if something is included. */
  readonly local?: GivenSituation | undefined;
}

/** The outcome of loading, with where it came from. */
export interface LoadedSource extends LoadPipelineResult {
  /** The situation, if it had to be read for what is included. */
  readonly local: GivenSituation | undefined;
  readonly files: readonly IncludedFile[];
  /** The components that files came from, for a lock. */
  readonly resources: readonly Resource[];
}

/** Loads a CI file with all that it includes, in its situation. @throws {UsageError} */
export async function loadCiSource(
  options: LoadOptions,
  source: Source,
  { place, tools }: { readonly place: SourcePlace; readonly tools: LoadTools },
): Promise<LoadedSource> {
  const inputTexts = place.inputs;
  // Most files include nothing: then neither git nor the cache has anything to say.
  if (!/\binclude\b/.test(source.text)) {
    const loadFile = (): LoadFailure => ({ problem: "Nothing is included" });
    const result = await loadPipeline(source, { loadFile, inputTexts, ...createInputTools() });
    return { ...result, local: place.local, files: [], resources: [] };
  }
  const { workDir, readArtifact } = place;
  const local = place.local ?? (await tools.readSituation());
  await using engine = tools.openEngine();
  const includes = openIncludes(options, { engine, local, workDir, signal: tools.signal });
  const seen = collectVariablesOfRules({
    ...predefinedVariables({ pipeline: local.pipeline }),
    pipeline: local.given,
  });
  const result = await loadPipeline(source, {
    loadFile: (request) =>
      request.kind === "artifact" && readArtifact !== undefined ? readArtifact(request) : includes.loadFile(request),
    includesArtifacts: readArtifact !== undefined,
    listFiles: includes.listFiles,
    includeRules: createIncludeRules({ situation: withFilesOf(local.situation, includes.filesOf), variables: seen }),
    inputTexts,
    ...createInputTools(),
    variables: { ...place.predefined, ...textsOf(seen) },
    masked: new Set(options.maskVariable),
  });
  return { ...result, local, files: includes.files(), resources: includes.resources() };
}

function textsOf(variables: GivenSituation["given"]): Record<string, string> {
  return Object.fromEntries([...variables].map(([name, { value }]) => [name, value]));
}

type FilesOf = Includes["filesOf"];

// Rules of an include may ask for files of the project that the include is in, or of another one.
function withFilesOf(situation: Situation, filesOf: FilesOf): Situation {
  return {
    ...situation,
    trackedFiles: async (from) => {
      if (from.project === undefined) return (await situation.trackedFiles?.(from)) ?? [];
      const files = await filesOf(from);
      if ("problem" in files) throw new SituationError(`The files of ${from.project} are not known: ${files.problem}`);
      return files;
    },
  };
}
