import type { Flag, Flags } from "@steps/console";
import { lockFlags, sourceFlags } from "./component-flags.ts";
import { githubFlags } from "./github-flags.ts";
import { givenFlags } from "./job-flags.ts";

export const stateDir: Flag = {
  type: "string",
  placeholder: "DIR",
  summary: "Where journals and logs are kept; the user's state directory by default",
  env: "STEP_RUNNER_STATE_DIR",
};

/** Flags of everything that fetches components. */
export const fetchFlags: Flags = {
  "cache-dir": {
    type: "string",
    placeholder: "DIR",
    summary: "Where fetched components are kept; the user's cache directory by default",
    env: "STEP_RUNNER_CACHE_DIR",
  },
  git: {
    type: "string",
    summary: "What fetches git repositories: the system's git, the built-in one, or the first that is there",
    choices: ["auto", "system", "isomorphic"],
    default: "auto",
    env: "STEP_RUNNER_GIT",
  },
  mirror: {
    type: "list",
    placeholder: "PREFIX=PREFIX",
    summary: "Fetch what starts with the first URL prefix from the second; repeat for more",
    env: "STEP_RUNNER_MIRROR",
  },
  offline: { type: "boolean", summary: "Use only components that are in the cache", env: "STEP_RUNNER_OFFLINE" },
  "legacy-refs": {
    type: "boolean",
    default: true,
    summary:
      "host/group/project/dir@REV may mean dir in the repository host/group/project, if it is no repository itself",
    env: "STEP_RUNNER_LEGACY_REFS",
  },
};

/** Flags of everything that runs steps. */
export const runFlags: Flags = {
  "output-file": {
    type: "string",
    placeholder: "FILE",
    summary: "Write the trace to a file",
    env: "STEP_RUNNER_OUTPUT_FILE",
  },
  "write-steps-results": {
    type: "boolean",
    summary: "Write the result tree in the form of GitLab's step runner",
    env: "CI_STEPS_DEBUG",
  },
  "step-results-file": {
    type: "string",
    placeholder: "FILE",
    summary: "Where the result tree goes; step-results.json or step-results.txtpb by default",
    env: "STEP_RUNNER_RESULTS_FILE",
  },
  "step-results-format": {
    type: "string",
    summary: "The form of the result tree",
    choices: ["json", "prototext"],
    default: "json",
    env: "STEP_RUNNER_RESULTS_FORMAT",
  },
  mask: {
    type: "list",
    placeholder: "VALUE",
    summary: "Replace a value by [MASKED] wherever it turns up; repeat for more",
  },
  "mask-variable": {
    type: "list",
    placeholder: "NAME",
    summary: "Mask the value of a job variable or environment variable; repeat for more",
  },
  timeout: { type: "duration", summary: "Stop the job after this time, exit code 124", env: "STEP_RUNNER_TIMEOUT" },
  grace: {
    type: "duration",
    summary: "What a cancelled step has between TERM and KILL",
    default: "10s",
    env: "STEP_RUNNER_GRACE",
  },
  lenient: { type: "boolean", summary: "Unknown keys in step files are warnings", env: "STEP_RUNNER_LENIENT" },
  ...givenFlags,
  "trace-sync": {
    type: "string",
    summary: "When the journal is forced to the disk",
    choices: ["none", "background", "step", "all"],
    default: "background",
    env: "STEP_RUNNER_TRACE_SYNC",
  },
  "state-dir": stateDir,
  quiet: { type: "boolean", summary: "Print the output of the steps and errors only", env: "STEP_RUNNER_QUIET" },
  ...fetchFlags,
  ...sourceFlags,
  ...githubFlags,
  ...lockFlags,
};
