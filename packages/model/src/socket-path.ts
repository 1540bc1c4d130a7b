/** The paths at which a Step Runner service listens by default. */
export interface SocketPlaces {
  /** The place of a new service, a folder and a name of its own: `$XDG_RUNTIME_DIR/step-runner/`, else below the state directory. */
  readonly own: string;
  /**
   * The paths at which a service may be found, the likeliest first: that of the variable, our own, and that of GitLab's
   * runner.
   */
  readonly all: readonly string[];
}

const NAME = "step-runner.sock";

/**
 * The places of the service's socket by the environment of a user: `STEP_RUNNER_SOCKET`, `XDG_RUNTIME_DIR`,
 * `STEP_RUNNER_STATE_DIR`, `XDG_STATE_HOME`, `HOME`, `TMPDIR`. Both sides of the wire compute them, so that neither has to be told.
 */
export function socketPlaces(env: Readonly<Record<string, string | undefined>>): SocketPlaces {
  const given = env["STEP_RUNNER_SOCKET"];
  const runtime = absolute(env["XDG_RUNTIME_DIR"]);
  const home = absolute(env["HOME"]) ?? "/root";
  const stateHome = absolute(env["XDG_STATE_HOME"]) ?? join(home, ".local/state");
  const state = absolute(env["STEP_RUNNER_STATE_DIR"]) ?? join(stateHome, "step-runner/v1");
  const inState = join(state, `service/${NAME}`);
  const ours = runtime === undefined ? [inState] : [join(runtime, `step-runner/${NAME}`), inState];
  const shared = join(absolute(env["TMPDIR"]) ?? "/tmp", NAME);
  const all = [...(given === undefined || given === "" ? [] : [given]), ...ours, shared];
  return { own: ours[0] as string, all: [...new Set(all)] };
}

function absolute(path: string | undefined): string | undefined {
  return path?.startsWith("/") === true ? path : undefined;
}

function join(folder: string, name: string): string {
  return `${folder.replace(/\/+$/, "")}/${name}`;
}
