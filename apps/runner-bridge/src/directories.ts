type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the folder of the records of jobs. */
export function jobsDirectory(env: Environment): string {
  return `${place(env, "XDG_STATE_HOME", ".local/state")}/runner-bridge/jobs`;
}

function place(env: Environment, name: string, below: string): string {
  const given = env[name];
  return given?.startsWith("/") === true ? given : `${env["HOME"] ?? "/root"}/${below}`;
}
