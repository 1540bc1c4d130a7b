import type { RuntimeString, Value } from "@steps/model";

/** Everything that GitHub actions need of the program around the run. */
export interface ActionHost {
  /** The contexts of the job; asked for once, when its first action comes. */
  describe(facts: ActionFacts): ActionDescription;
  /** `github.token`; absent: empty. */
  readonly token?: RuntimeString;
  /** Absolute: `RUNNER_TOOL_CACHE`. */
  readonly toolCacheDir: string;
  /** Variables for actions that need the cache and the artifacts of GitHub; whatever serves them is started now. */
  services(): Promise<Readonly<Record<string, RuntimeString>>>;
  /** Absolute: a file that Markdown summaries are collected in, if somebody wants to read them. */
  readonly summaryFile?: string;
  /** A text for others than the trace, without the secrets that are known by now. */
  readonly mask: (text: string) => string;
  /** `::debug::` is shown, and `RUNNER_DEBUG` is set. */
  readonly isDebug: boolean;
  /** How groups in the output are marked. */
  readonly groupStyle: "github" | "gitlab";
}

/** The facts of a run that a description is made of. */
export interface ActionFacts {
  /** A job variable. Asking is recorded. */
  readonly variable: (name: string) => string | undefined;
  /** Absolute paths. */
  readonly workspace: string;
  readonly temp: string;
  readonly eventPath: string;
  /** The inputs of a workflow that is dispatched; absent elsewhere. */
  readonly inputs?: Readonly<Record<string, Value>>;
}

/** The contexts `github` and `runner`, and the variables that stand for them. */
export interface ActionDescription {
  readonly github: Readonly<Record<string, Value>>;
  readonly runner: Readonly<Record<string, Value>>;
  readonly event: Value;
  /** `GITHUB_*` and `RUNNER_*` of these contexts. */
  readonly environment: (
    github: Readonly<Record<string, Value>>,
    runner: Readonly<Record<string, Value>>,
  ) => Readonly<Record<string, string>>;
}
