type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of a pod's state, or of a daemon's, unless another is named. */
export function stateDirectory(env: Environment, name: "pod" | "pod-daemon" = "pod"): string {
  const given = env["XDG_STATE_HOME"];
  const base = given?.startsWith("/") === true ? given : `${env["HOME"] ?? "/root"}/.local/state`;
  return `${base}/${name}`;
}
