import { type Flags, grouped } from "@steps/console";
import { lockFlags, sourceFlags } from "./component-flags.ts";
import { exportFlags } from "./allowed-exports.ts";
import { strictEnv } from "./job-flags.ts";
import { fetchFlags, stateDir } from "./run-flags.ts";

/** Flags of a service that listens on TCP. */
export const portFlags: Flags = grouped("Serving on a port", {
  port: {
    type: "number",
    placeholder: "PORT",
    summary: "Serve on this port of the loopback interface too, gRPC and Connect, with a token; 0 takes a free one",
    env: "STEP_RUNNER_PORT",
  },
  host: {
    type: "string",
    placeholder: "ADDRESS",
    summary: "The address that --port is bound to",
    default: "127.0.0.1",
    env: "STEP_RUNNER_HOST",
  },
  "insecure-any-client": {
    type: "boolean",
    summary: "Ask callers of the port for no token; STEP_RUNNER_TOKEN sets it, otherwise one is made and printed",
  },
});

/** Flags of a service's job table. */
export const jobTableFlags: Flags = {
  retention: {
    type: "duration",
    summary: "How long an ended job is kept that nobody closes",
    default: "1h",
    env: "STEP_RUNNER_RETENTION",
  },
  "max-jobs": {
    type: "number",
    summary: "How many jobs may run at once; 1000 unless given",
    env: "STEP_RUNNER_MAX_JOBS",
  },
  "strict-env": strictEnv,
  ...exportFlags,
  "state-dir": stateDir,
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
};
