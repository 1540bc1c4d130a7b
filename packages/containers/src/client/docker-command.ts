import { revealString, type RuntimeString } from "@steps/model";
import { ContainerError } from "../container-error.ts";
import type { ContainerCli } from "./find-container-cli.ts";

/** The path of the engine's socket in containers that are given it. */
export const CONTAINER_SOCKET = "/var/run/docker.sock";

// Variables that steer the client itself. None of them is secret, so the container's value may be an argument.
const CLIENT_NAMES: ReadonlySet<string> = new Set(
  (
    "PATH HOME TMPDIR LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT GODEBUG XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_DATA_HOME " +
    "XDG_CACHE_HOME DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_TLS DOCKER_TLS_VERIFY DOCKER_CERT_PATH " +
    "DOCKER_API_VERSION DOCKER_DEFAULT_PLATFORM DOCKER_CONTENT_TRUST DOCKER_CONTENT_TRUST_SERVER CONTAINER_HOST " +
    "CONTAINER_SSHKEY CONTAINER_CONNECTION CONTAINERS_CONF CONTAINERS_CONF_OVERRIDE CONTAINERS_STORAGE_CONF " +
    "CONTAINERS_REGISTRIES_CONF STORAGE_DRIVER STORAGE_OPTS REGISTRY_AUTH_FILE"
  ).split(" "),
);

/**
 * How variables get into a container: options of the client that name them, and the environment of the client that holds their
 * values, which so are in nobody's list of processes. What would change the client itself is an option with its value.
 */
export function passVariables<Text extends RuntimeString>(
  variables: Readonly<Record<string, Text>>,
  clientEnv: Readonly<Record<string, string | undefined>>,
): { readonly options: string[]; readonly env: Record<string, Text | string> } {
  const given = Object.entries(variables).filter(([name]) => name !== "");
  const options = given.flatMap(([name, value]) => {
    return ["--env", CLIENT_NAMES.has(name) ? `${name}=${revealString(value)}` : name];
  });
  const byName = given.filter(([name]) => !CLIENT_NAMES.has(name));
  return { options, env: Object.fromEntries<Text | string>([...definedOf(clientEnv), ...byName]) };
}

/** A folder or a file of the host, seen under a path of the container: the option of the client. */
export function bindOption(source: string, target: string, mode: "rw" | "ro" = "rw"): string {
  const fields = `type=bind,${field(`source=${source === "" ? "/" : source}`)},${field(`target=${target}`)}`;
  return `--mount=${fields}${mode === "ro" ? ",readonly" : ""}`;
}

/** An image to build. */
export interface DockerBuild {
  readonly cli: ContainerCli;
  /** Absolute. */
  readonly dockerfile: string;
  /** Absolute: the folder that holds the Dockerfile. */
  readonly context: string;
  readonly tag: string;
}

/** The command that makes an image of a Dockerfile. */
export function dockerBuildCommand({ cli, dockerfile, context, tag }: DockerBuild): string[] {
  // By default Podman makes images in a format that has no SHELL and no HEALTHCHECK.
  const format = cli.kind === "podman" ? ["--format=docker"] : [];
  return [cli.program, "build", ...format, `--tag=${tag}`, `--file=${dockerfile}`, context];
}

/** The command that ends a container, whatever it does, and removes it. It fails where there is none any more. */
export function dockerRemoveCommand(cli: ContainerCli, name: string): string[] {
  // Podman asks it to end first, and waits for 10 s.
  const atOnce = cli.kind === "podman" ? ["--time=0"] : [];
  return [cli.program, "rm", "--force", ...atOnce, "--volumes", name];
}

/** The option is a line of CSV, and unlike `--volume` it takes paths with colons and does not make what is missing. */
function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @throws {ContainerError} REFERENCE_INVALID if the client would take it for something else than an image */
export function checkImage(image: string): void {
  if (image === "" || image.startsWith("-") || /\s/.test(image)) {
    throw new ContainerError("REFERENCE_INVALID", `No image is named by "${image}"`);
  }
}

function definedOf(env: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
