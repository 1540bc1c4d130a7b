import type { ArtifactRegistry } from "@steps/github-services";
import type { Value } from "@steps/model";

/** Settings for the GitHub actions of a job that do not follow from the job's variables. */
export interface GithubOptions {
  /** `github.token`, and nothing else is one; absent: empty. */
  readonly token?: string;
  /** The three addresses of a GitHub; absent: github.com's. */
  readonly serverUrl?: string;
  readonly apiUrl?: string;
  readonly graphqlUrl?: string;
  /** `github.event_name` and `github.event`; absent: made of the job's variables. */
  readonly eventName?: string;
  readonly event?: Value;
  /** Absolute: a file that Markdown summaries are added to. */
  readonly summaryFile?: string;
  /** Absolute: where uploaded artifacts go. Default: below the state directory, a folder for each run. */
  readonly artifactDir?: string;
  /** The artifacts that the jobs of a pipeline hand on, from `sharedArtifacts()`. Default: those of this job alone. */
  readonly artifacts?: ArtifactRegistry;
  /** Absolute: where tools are looked for. Default: `RUNNER_TOOL_CACHE`, `AGENT_TOOLSDIRECTORY`, or below the cache directory. */
  readonly toolCacheDir?: string;
  readonly isDebug?: boolean;
  /** How groups in the output are marked. Default: as who runs the job folds them. */
  readonly groupStyle?: "github" | "gitlab";
  /** Whether `actions/checkout` of the job's own project is done by the runner. Default: yes. */
  readonly hasNativeCheckout?: boolean;
}
