/** The parts of a job's payload, as a GitLab hands it to a runner, that say what is to be done. Names are those of the wire. */
export interface ServerJob {
  readonly id: number;
  readonly job_info: { readonly name: string };
  readonly git_info: ServerSources;
  readonly allow_git_fetch: boolean;
  readonly variables: readonly ServerVariable[];
  readonly steps: readonly { readonly name: string; readonly script: readonly string[] }[];
  readonly hooks: readonly { readonly name: string; readonly script: readonly string[] }[];
  readonly cache: readonly ServerCache[];
  readonly artifacts: readonly ServerArtifact[];
  readonly dependencies: readonly ServerDependency[];
  readonly inputs?:
    | readonly { readonly key: string; readonly value: { readonly type: string; readonly content: unknown } }[]
    | undefined;
  /** A JSON text with a list of steps, in place of `steps`. */
  readonly run?: string | undefined;
}

/** The commit of a job. */
export interface ServerSources {
  readonly repo_url: string;
  readonly ref: string;
  readonly sha: string;
  readonly refspecs: readonly string[];
  readonly depth: number;
}

/** A variable; of several with one name the last counts. */
export interface ServerVariable {
  readonly key: string;
  readonly value: string;
  readonly masked: boolean;
  readonly file: boolean;
  readonly raw: boolean;
}

/** A cache. */
export interface ServerCache {
  readonly key: string;
  readonly untracked: boolean;
  readonly policy: string;
  readonly paths: readonly string[];
  readonly when: string;
  readonly fallback_keys: readonly string[];
}

/** Files that are uploaded when the job has ended. */
export interface ServerArtifact {
  readonly name: string;
  readonly untracked: boolean;
  readonly paths: readonly string[];
  readonly exclude: readonly string[];
  readonly when: string;
  readonly artifact_type: string;
  readonly artifact_format: string;
  readonly expire_in: string;
}

/** A job whose artifacts are downloaded. */
export interface ServerDependency {
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly artifacts_file?: object | undefined;
}
