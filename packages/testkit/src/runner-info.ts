/** A runner of a test about itself: `RunnerInfo` of `@steps/runner-api`, on which this package does not depend. */
export interface TestRunnerInfo {
  readonly name: string;
  readonly version: string;
  readonly revision: string;
  readonly platform: string;
  readonly architecture: string;
  readonly executor: string;
  readonly shell: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly features: Readonly<Record<string, boolean>>;
}

/** The announcement of a runner that can do all that the official one can, but for what `features` says. */
export function runnerInfo(features: Readonly<Record<string, boolean>> = {}): TestRunnerInfo {
  return {
    name: "test",
    version: "1.0.0",
    revision: "",
    platform: "linux",
    architecture: "amd64",
    executor: "shell",
    shell: "bash",
    labels: {},
    config: {},
    features: { two_phase_job_commit: true, trace_reset: true, cancel_gracefully: true, cancelable: true, ...features },
  };
}
