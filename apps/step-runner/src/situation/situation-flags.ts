import { flag, grouped, type OptionsOf } from "@steps/console";

/** The events that start pipelines of GitLab, as in `CI_PIPELINE_SOURCE`. */
const SOURCES = [
  "push",
  "merge_request_event",
  "schedule",
  "web",
  "api",
  "trigger",
  "pipeline",
  "parent_pipeline",
  "chat",
  "external",
  "external_pull_request_event",
  "ondemand_dast_scan",
  "ondemand_dast_validation",
  "security_orchestration_policy",
  "webide",
] as const;

const HEADING = "The situation of a GitLab job";

/** Flags that say for what a job of a `.gitlab-ci.yml` runs. */
export const situationFlags = grouped(HEADING, {
  source: flag.choice(SOURCES, {
    summary: "The event that starts the pipeline; push by default, merge_request_event with --merge-request",
  }),
  ref: flag.text({
    placeholder: "BRANCH",
    summary: "The branch that the pipeline is of; the one that is checked out by default",
  }),
  tag: flag.text({ placeholder: "TAG", summary: "The pipeline is of a tag" }),
  "merge-request": flag.text({
    placeholder: "TARGET",
    summary: "The pipeline is of a merge request to this branch",
  }),
  "changes-since": flag.text({
    placeholder: "REV",
    summary: "Rules with changes compare with where this commit, branch or tag and the checked out commit part",
  }),
  "variables-file": flag.path({
    placeholder: "FILE",
    summary: "Lines NAME=VALUE, job variables that lose to those of --variable; lines that begin with # are left out",
  }),
  "file-variable": flag.pairs({
    placeholder: "NAME=PATH",
    summary: "A variable of type file: the job finds the path of a copy of this file in it; masked; repeat for more",
  }),
});

/** Flags of commands that run one job of a `.gitlab-ci.yml`. */
export const judgedFlags = grouped(HEADING, {
  force: flag.boolean({ summary: "Run the job although its rules exclude it or it is started by hand" }),
  explain: flag.boolean({
    summary: "Print why the job runs or not: each rule, its conditions and the values they saw; run nothing",
  }),
});

/** The options that say what is done about the rules of a job. */
export type JudgedOptions = OptionsOf<typeof judgedFlags>;

/** The options that say for what a job runs. */
export type SituationOptions = OptionsOf<typeof situationFlags>;
