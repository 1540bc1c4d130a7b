import { converted, type Flag, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { JOB_EXITS } from "@steps/model/exit-codes";
import { exportFlags } from "./allowed-exports.ts";
import { lockFlags, sourceFlags } from "./component-flags.ts";
import { githubFlags } from "./github-flags.ts";
import { environmentFlags, givenFlags, languageFlags } from "./job-flags.ts";

export const stateDir = flag.path({
  placeholder: "DIR",
  summary: "Where journals and logs are kept; the user's state directory by default",
  env: "STEP_RUNNER_STATE_DIR",
});

/**
 * Whether what is private is fetched with what the user's .netrc and git know. Where steps of others run one after the other under one
 * user, an earlier one could have written what a later fetch reads, so that it has to be asked for there (ADR 51).
 */
function gitCredentials(byDefault: "user" | "none"): Flag<"user" | "none"> {
  return flag.choice(["user", "none"], {
    summary:
      "Credentials for what is fetched over https and the reference has none for: those of .netrc and, for repositories, of git's credential helpers, or none",
    default: byDefault,
    env: "STEP_RUNNER_GIT_CREDENTIALS",
  });
}

/** Flags of everything that fetches components. */
export const fetchFlags = grouped("Components", {
  "cache-dir": flag.path({
    placeholder: "DIR",
    summary: "Where fetched components are kept; the user's cache directory by default",
    env: "STEP_RUNNER_CACHE_DIR",
  }),
  git: flag.choice(["auto", "system", "isomorphic"], {
    summary: "The git that fetches repositories: the system's git, the built-in one, or the first that is there",
    default: "auto",
    env: "STEP_RUNNER_GIT",
  }),
  "git-credentials": gitCredentials("user"),
  mirror: converted(
    flag.list({
      placeholder: "PREFIX=PREFIX",
      summary: "Fetch what starts with the first URL prefix from the second; repeat for more",
      env: "STEP_RUNNER_MIRROR",
      separator: /[\s,]+(?=[a-z][a-z0-9+.-]*:\/\/[^\s=]*=)/i,
    }),
    readMirrors,
  ),
  offline: flag.boolean({ summary: "Use only components that are in the cache", env: "STEP_RUNNER_OFFLINE" }),
  "legacy-refs": flag.boolean({
    default: true,
    summary:
      "host/group/project/dir@REV may mean dir in the repository host/group/project, if it is no repository itself",
    env: "STEP_RUNNER_LEGACY_REFS",
  }),
});

/** Those of `fetchFlags` that have another default where nobody sits before the program, as in a job of CI and in a service. */
export const unattendedFlags = grouped("Components", { "git-credentials": gitCredentials("none") });

/** The options that say how components are fetched. */
export type FetchOptions = OptionsOf<typeof fetchFlags>;

/** Flags of everything that shows a run while it goes on. */
const progressFlags = grouped("The run and its records", {
  progress: flag.choice(["auto", "tree", "plain", "quiet"], {
    summary:
      "How the run is shown on standard error: a tree that grows, lines at the beginning and the end of each step, or errors only; auto is a tree on a terminal, plain on that of a CI system",
    default: "auto",
    env: "STEP_RUNNER_PROGRESS",
  }),
});

/** Flags of everything that runs steps: what most runs need first, then the rest by what it is about. */
export const runFlags = {
  "output-file": flag.text({
    short: "o",
    placeholder: "FILE",
    summary: "Write the trace to a file",
    env: "STEP_RUNNER_OUTPUT_FILE",
  }),
  ...givenFlags,
  timeout: flag.duration({
    summary: `Stop the job after this time, exit code ${JOB_EXITS.timeout.code}`,
    env: "STEP_RUNNER_TIMEOUT",
    isPositive: true,
  }),
  quiet: flag.boolean({
    short: "q",
    summary: "Print the output of the steps and errors only",
    env: "STEP_RUNNER_QUIET",
  }),
  ...environmentFlags,
  ...exportFlags,
  ...languageFlags,
  ...progressFlags,
  ...grouped("The run and its records", {
    grace: flag.duration({
      summary: "The time that a cancelled step has between TERM and KILL",
      default: "10s",
      env: "STEP_RUNNER_GRACE",
    }),
    "state-dir": stateDir,
    "trace-sync": flag.choice(["none", "background", "step", "all"], {
      summary: "When the journal is forced to the disk",
      default: "background",
      env: "STEP_RUNNER_TRACE_SYNC",
    }),
    "write-steps-results": flag.boolean({
      summary: "Write the result tree in the form of GitLab's step runner",
      env: "CI_STEPS_DEBUG",
    }),
    "step-results-file": flag.text({
      placeholder: "FILE",
      summary: "Where the result tree goes; step-results.json or step-results.txtpb by default",
      env: "STEP_RUNNER_RESULTS_FILE",
    }),
    "step-results-format": flag.choice(["json", "prototext"], {
      summary: "The form of the result tree",
      default: "json",
      env: "STEP_RUNNER_RESULTS_FORMAT",
    }),
  }),
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
  ...githubFlags,
};

/** The options that say how steps are run, and what is kept of a run. */
export type RunOptions = OptionsOf<typeof runFlags>;

function readMirrors(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const split = text.indexOf("=", text.indexOf("://"));
      if (split < 1) throw new UsageError(`--mirror is not PREFIX=PREFIX: "${text}"`);
      return [text.slice(0, split), text.slice(split + 1)];
    }),
  );
}
