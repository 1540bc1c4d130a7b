import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
import type { FollowOptions } from "@steps/client";
import { targetFlags } from "./dial-target.ts";

/** Flags of everything that waits for a job. */
export const followFlags: Flags = {
  "output-file": {
    type: "string",
    placeholder: "FILE",
    summary: "Write the trace to a file",
    env: "RUNNER_BRIDGE_OUTPUT_FILE",
  },
  quiet: { type: "boolean", summary: "Print the output of the job and errors only", env: "RUNNER_BRIDGE_QUIET" },
  verbose: { type: "boolean", summary: "Say what happens to the connection", env: "RUNNER_BRIDGE_VERBOSE" },
  ...grouped("The connection and the results", {
    "step-results-file": {
      type: "string",
      placeholder: "FILE",
      summary: "Write the result tree to a file, as JSON",
      env: "RUNNER_BRIDGE_RESULTS_FILE",
    },
    "reconnect-for": {
      type: "duration",
      summary: "How long a lost connection is tried again before the job is left to itself",
      default: "5m",
      env: "RUNNER_BRIDGE_RECONNECT_FOR",
    },
  }),
};

/** Flags of every command. */
export const commonFlags: Flags = {
  ...targetFlags,
  ...grouped("The way there", {
    token: {
      type: "string",
      summary: "The job's token; by default the one that this user's runner-bridge made for it",
      env: "RUNNER_BRIDGE_TOKEN",
    },
  }),
};

/** How long the first connection is tried. */
const CONNECT_WINDOW_MS = 10_000;

/** Reads from the flags how long a connection is looked for. @throws {UsageError} */
export function windowsOf(line: CommandLine): Required<Pick<FollowOptions, "reconnectWindowMs" | "connectWindowMs">> {
  const reconnectWindowMs = line.number("reconnect-for") ?? 0;
  return { reconnectWindowMs, connectWindowMs: Math.min(CONNECT_WINDOW_MS, reconnectWindowMs) };
}

/** The token that was given. @throws {UsageError} for one that cannot be sent */
export function tokenOf(line: CommandLine): string | undefined {
  const token = line.string("token");
  if (token !== undefined && !/^[\x21-\x7e]{1,256}$/.test(token))
    throw new UsageError("--token is not a token", "It takes up to 256 characters of ASCII without blanks.");
  return token;
}

/** The job that a command names. @throws {UsageError} */
export function idOf(line: CommandLine): string {
  const [id = ""] = line.positionals;
  if (id === "" || Buffer.byteLength(id) > 256) throw new UsageError(`"${id.slice(0, 64)}" is no id of a job`);
  return id;
}
