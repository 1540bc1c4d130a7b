import type { Source } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";
import type { YamlNode, YamlScalar } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";

/** The project and the state of it in which a file looks for local files. */
export interface FileContext {
  /** The project's path: `group/name`. Absent for the project that the pipeline is of. */
  readonly project?: string | undefined;
  /** The commit, branch or tag. Absent for the state that the pipeline is of. */
  readonly ref?: string | undefined;
}

/** A file that an include asks for. Paths have no leading slash; variables were filled in. */
export type FileRequest =
  | {
      readonly kind: "local";
      /** The path from the root of the context's project. It ends in `.yml` or `.yaml` and has no `..` in it. */
      readonly path: string;
      readonly context: FileContext;
    }
  | {
      readonly kind: "project";
      readonly project: string;
      readonly path: string;
      /** The commit, branch or tag. Absent for the newest commit of the default branch. */
      readonly ref: string | undefined;
    }
  | {
      readonly kind: "remote";
      readonly url: string;
      /** The digest of the content, `sha256-` and 44 characters of Base64: whoever loads compares it. Absent for any content. */
      readonly integrity: string | undefined;
    }
  | { readonly kind: "template"; readonly name: string }
  | {
      /** A file that a job of the pipeline before has made; only for a pipeline that is loaded with `includesArtifacts`. */
      readonly kind: "artifact";
      /** The name of the job. */
      readonly job: string;
      /** The path in its artifacts. It ends in `.yml` or `.yaml` and has no `..` in it. */
      readonly path: string;
    }
  | {
      readonly kind: "component";
      /** The address with its version: `gitlab.com/group/project/name@1.2`. */
      readonly address: string;
    };

/** The fields of a component that `$[[ component.x ]]` gives in its file. */
export interface ComponentFacts {
  readonly name: string;
  readonly sha: string;
  /** The version, `null` when the component was named by a branch or a commit. */
  readonly version: string | null;
  /** The text behind the `@` of the address. */
  readonly reference: string;
}

/** A file that was loaded. */
export interface LoadedFile {
  readonly source: Source;
  /** The project that local includes of the file are looked up in. Absent for a file of no project, which cannot have them. */
  readonly context?: FileContext | undefined;
  /** Absent for everything that is no component. */
  readonly component?: ComponentFacts | undefined;
}

/** The reason why there is no file. */
export interface LoadFailure {
  /** Sentence case, no final period: `The file does not exist`. */
  readonly problem: string;
  /** A sentence that says what to do; absent when there is nothing to say. */
  readonly hint?: string | undefined;
}

/** The files below a folder that the include with a wildcard is compared with. */
export interface ListRequest {
  /** The folder from the root of the project, without slashes at its ends; empty for the root. */
  readonly folder: string;
  readonly context: FileContext;
}

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
