import type { Source } from "./diagnostic/position.ts";

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
