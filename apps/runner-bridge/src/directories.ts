type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the folder of what is kept between two runs of the program. */
export function stateDirectory(env: Environment): string {
  return `${place(env, "XDG_STATE_HOME", ".local/state")}/runner-bridge`;
}

/** Returns the folder of the records of jobs. */
export function jobsDirectory(env: Environment): string {
  return `${stateDirectory(env)}/jobs`;
}

/** Returns the file with the registered runners. */
export function configFile(env: Environment): string {
  return `${place(env, "XDG_CONFIG_HOME", ".config")}/runner-bridge/runners.yml`;
}

function place(env: Environment, name: string, below: string): string {
  const given = env[name];
  return given?.startsWith("/") === true ? given : `${env["HOME"] ?? "/root"}/${below}`;
}
