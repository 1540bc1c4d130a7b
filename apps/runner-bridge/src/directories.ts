type Environment = Readonly<Record<string, string | undefined>>;

/** Where Node may keep the compiled form of this program. */
export function codeCacheDirectory(env: Environment): string {
  return `${place(env, "XDG_CACHE_HOME", ".cache")}/runner-bridge/code`;
}

/** Where the records of jobs are. */
export function jobsDirectory(env: Environment): string {
  return `${place(env, "XDG_STATE_HOME", ".local/state")}/runner-bridge/jobs`;
}

function place(env: Environment, name: string, below: string): string {
  const given = env[name];
  return given?.startsWith("/") === true ? given : `${env["HOME"] ?? "/root"}/${below}`;
}
