import { converted, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import type { FollowOptions } from "@steps/client";
import { targetFlags } from "./target-flags.ts";

/** Flags of everything that waits for a job. */
export const followFlags = {
  "output-file": flag.text({
    short: "o",
    placeholder: "FILE",
    summary: "Write the trace to a file",
    env: "RUNNER_BRIDGE_OUTPUT_FILE",
  }),
  quiet: flag.boolean({
    short: "q",
    summary: "Print the output of the job and errors only",
    env: "RUNNER_BRIDGE_QUIET",
  }),
  verbose: flag.boolean({ summary: "Say what happens to the connection", env: "RUNNER_BRIDGE_VERBOSE" }),
  ...grouped("The connection and the results", {
    "step-results-file": flag.text({
      placeholder: "FILE",
      summary: "Write the result tree to a file, as JSON",
      env: "RUNNER_BRIDGE_RESULTS_FILE",
    }),
    "reconnect-for": flag.duration({
      summary: "How long a lost connection is tried again before the job is left to itself",
      default: "5m",
      env: "RUNNER_BRIDGE_RECONNECT_FOR",
    }),
  }),
};

/** The options that say how a job is followed, and what is kept of it. */
export type FollowFlagOptions = OptionsOf<typeof followFlags>;

/** Flags of every command. */
export const commonFlags = {
  ...targetFlags,
  ...grouped("The way there", {
    token: converted(
      flag.text({
        summary: "The job's token; by default the one that this user's runner-bridge made for it",
        env: "RUNNER_BRIDGE_TOKEN",
      }),
      checkToken,
    ),
  }),
};

/** How long the first connection is tried. */
const CONNECT_WINDOW_MS = 10_000;

/** How long a connection is looked for. */
export function windowsOf({
  reconnectFor: reconnectWindowMs,
}: Pick<FollowFlagOptions, "reconnectFor">): Required<Pick<FollowOptions, "reconnectWindowMs" | "connectWindowMs">> {
  return { reconnectWindowMs, connectWindowMs: Math.min(CONNECT_WINDOW_MS, reconnectWindowMs) };
}

function checkToken(token: string | undefined): string | undefined {
  if (token !== undefined && !/^[\x21-\x7e]{1,256}$/.test(token))
    throw new UsageError("--token is not a token", "It takes up to 256 characters of ASCII without blanks.");
  return token;
}

/** The job that a command names. @throws {UsageError} */
export function idOf([id = ""]: readonly string[]): string {
  if (id === "" || Buffer.byteLength(id) > 256) throw new UsageError(`"${id.slice(0, 64)}" is no id of a job`);
  return id;
}
