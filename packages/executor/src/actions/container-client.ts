const CLIENT_VARIABLES = /^(?:PATH|HOME|USER|TMPDIR|XDG_.*|DOCKER_.*|CONTAINER_.*|CONTAINERS_.*|REGISTRY_AUTH_FILE)$/;

/** What the command of a container engine needs of the runner's own environment. */
export function clientVariables(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => CLIENT_VARIABLES.test(name));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
