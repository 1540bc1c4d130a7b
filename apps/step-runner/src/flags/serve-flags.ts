import { flag, grouped, type OptionsOf } from "@steps/console";
import { lockFlags, sourceFlags } from "./component-flags.ts";
import { exportFlags } from "./allowed-exports.ts";
import { strictEnv } from "./job-flags.ts";
import { fetchFlags, stateDir, unattendedFlags } from "./run-flags.ts";

/** Flags of a service that listens on TCP. */
export const portFlags = grouped("Serving on a port", {
  port: flag.integer({
    max: 65_535,
    placeholder: "PORT",
    summary: "Serve on this port of the loopback interface too, gRPC and Connect, with a token; 0 takes a free one",
    env: "STEP_RUNNER_PORT",
  }),
  host: flag.text({
    placeholder: "ADDRESS",
    summary: "The address that --port is bound to",
    default: "127.0.0.1",
    env: "STEP_RUNNER_HOST",
  }),
  "insecure-any-client": flag.boolean({
    summary: "Ask callers of the port for no token; STEP_RUNNER_TOKEN sets it, otherwise one is made and printed",
  }),
});

/** The options that say whether and where a service listens on TCP. */
export type PortOptions = OptionsOf<typeof portFlags>;

/** Flags of a service's job table. */
export const jobTableFlags = {
  retention: flag.duration({
    summary: "How long an ended job is kept that nobody closes",
    default: "1h",
    env: "STEP_RUNNER_RETENTION",
  }),
  "max-jobs": flag.integer({
    summary: "How many jobs may run at once; 1000 unless given",
    env: "STEP_RUNNER_MAX_JOBS",
  }),
  "strict-env": strictEnv,
  ...exportFlags,
  "state-dir": stateDir,
  ...fetchFlags,
  ...unattendedFlags,
  ...sourceFlags,
  ...lockFlags,
};

/** The options that all jobs of a service share. */
export type JobTableOptions = OptionsOf<typeof jobTableFlags>;
