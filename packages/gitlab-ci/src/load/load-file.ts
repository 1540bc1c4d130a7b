import type { FileContext, FileRequest, ListRequest, LoadedFile, LoadFailure } from "@steps/model/include";
import type { Value } from "@steps/model";
import type { YamlNode, YamlScalar } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";

export type {
  ComponentFacts,
  FileContext,
  FileRequest,
  ListRequest,
  LoadedFile,
  LoadFailure,
} from "@steps/model/include";

/** An answer at once or later: `loadPipeline()` waits for it, `loadPipelineNow()` cannot. */
export type Eventually<T> = T | Promise<T>;

/**
 * Gives the file that an include asks for, or says why there is none. Whoever loads decides what may be read: it follows no
 * link out of a project, redirects and sizes are its own to bound. It throws only for what ends the whole run.
 */
export type LoadFile = (request: FileRequest) => Eventually<LoadedFile | LoadFailure>;

/** Gives the paths of all files at any depth below a folder, from the root of the project, in any order. */
export type ListFiles = (request: ListRequest) => Eventually<readonly string[] | LoadFailure>;

/** Tells what a condition is judged in. */
export interface ConditionScope {
  /** The project of the file that holds the include; absent for a file of no project. */
  readonly context: FileContext | undefined;
  /** Takes what is wrong with a condition. */
  readonly report: CiReport;
}

/** Says whether the `rules` of an include let the file in. */
export type IncludeRules = (rules: YamlNode, scope: ConditionScope) => Eventually<boolean>;

/** Whether a text matches, or what is wrong with the pattern: a lower-case clause. */
export type PatternVerdict = boolean | { readonly message: string };

/** Says whether a text matches a regular expression of RE2 anywhere, or what is wrong with the expression. */
export type MatchPattern = (pattern: string, text: string) => Eventually<PatternVerdict>;

/** Says whether the `if` of an input's rule holds for the values of the other inputs; what is wrong is reported. */
export type InputCondition = (
  condition: YamlScalar,
  inputs: ReadonlyMap<string, Value>,
  report: CiReport,
) => Eventually<boolean>;
