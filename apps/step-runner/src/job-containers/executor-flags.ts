import { flag, grouped, type OptionsOf } from "@steps/console";

/** Flags that say where the jobs of a `.gitlab-ci.yml` run. */
export const executorFlags = grouped("Containers of GitLab jobs", {
  executor: flag.choice(["auto", "docker", "host"], {
    summary:
      "Where a job runs: auto takes a container of Docker or Podman for a job with an image and this machine for others; docker wants an image of every job; host runs all of them here, without their images and services",
    default: "auto",
    env: "STEP_RUNNER_EXECUTOR",
  }),
  "pull-policy": flag.choice(["always", "if-not-present", "never"], {
    summary: "When images are pulled whose jobs do not say",
    default: "if-not-present",
    env: "STEP_RUNNER_PULL_POLICY",
  }),
  privileged: flag.boolean({
    summary: "Containers of jobs and services have all rights of this machine's root, as docker:dind needs them",
    env: "STEP_RUNNER_PRIVILEGED",
  }),
});

/** The options that say where jobs run. */
export type ExecutorOptions = OptionsOf<typeof executorFlags>;
