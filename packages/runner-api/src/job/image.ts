/** An image, of the job or of a service. */
export interface ImageSpec {
  readonly name: string;
  /** The host name of a service. */
  readonly alias: string;
  readonly command: readonly string[];
  readonly entrypoint: readonly string[];
  readonly ports: readonly { readonly number: number; readonly protocol: string; readonly name: string }[];
  readonly variables: readonly ImageVariable[];
  /** `always`, `if-not-present`, `never`; empty: the runner's own. */
  readonly pull_policy: readonly string[];
  readonly executor_opts: ExecutorOptions;
}

/** A variable of a service alone. */
export interface ImageVariable {
  readonly key: string;
  readonly value: string;
  readonly file: boolean;
  readonly raw: boolean;
}

/** The settings of an image for one kind of executor. */
export interface ExecutorOptions {
  readonly docker?: { readonly platform: string; readonly user: string } | undefined;
  readonly kubernetes?: { readonly user: string } | undefined;
}
