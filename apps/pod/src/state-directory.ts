type Environment = Readonly<Record<string, string | undefined>>;

/** The folder of a pod's state unless another is named. */
export function stateDirectory(env: Environment): string {
  const given = env["XDG_STATE_HOME"];
  const base = given?.startsWith("/") === true ? given : `${env["HOME"] ?? "/root"}/.local/state`;
  return `${base}/pod`;
}
