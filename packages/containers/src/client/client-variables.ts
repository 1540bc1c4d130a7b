const CLIENT_VARIABLES = /^(?:PATH|HOME|USER|TMPDIR|XDG_.*|DOCKER_.*|CONTAINER_.*|CONTAINERS_.*|REGISTRY_AUTH_FILE)$/;

/** Returns the variables of the runner's own environment that the command of a container engine needs. */
export function clientVariables(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => CLIENT_VARIABLES.test(name));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
