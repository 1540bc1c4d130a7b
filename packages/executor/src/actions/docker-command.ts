import { revealString, type RuntimeString } from "@steps/model";
import { ExecuteError } from "../execute-error.ts";
import type { ContainerCli } from "./find-container-cli.ts";
import { splitWords } from "./split-words.ts";

/** Folders of the host, absolute, that a Docker action finds under `/github`. */
export interface ContainerMounts {
  readonly workspace: string;
  /** `RUNNER_TEMP` */
  readonly temp: string;
  readonly home: string;
  /** With the event's file. */
  readonly workflow: string;
  readonly fileCommands: string;
}

/** One container of a Docker action. */
export interface DockerRun {
  readonly cli: ContainerCli;
  readonly image: string;
  readonly name: string;
  readonly label: string;
  readonly network?: string | undefined;
  /** Of the manifest: of `main`, `pre` or `post`. It wins over the caller's. */
  readonly entrypoint?: string | undefined;
  /** Of the manifest, expanded; even empty they win over the caller's. */
  readonly args: readonly string[] | undefined;
  readonly withEntrypoint?: string | undefined;
  /** The raw command line `with.args`. */
  readonly withArgs?: string | undefined;
  readonly mounts: ContainerMounts;
  /** The socket of the daemon, where there is one: `findContainerSocket()`. */
  readonly socket?: string | undefined;
  /** All that the container gets. The PATH of the host is not for it. */
  readonly env: Readonly<Record<string, string>>;
  /** What the client needs for itself: `HOME`, `PATH`, `DOCKER_HOST` … */
  readonly clientEnv?: Readonly<Record<string, string | undefined>>;
}

/** A command of the client, and the environment to start it in. */
export interface ContainerCommand {
  /** The program's absolute path, then its arguments. */
  readonly command: string[];
  /** The arguments without what differs from run to run. */
  readonly shown: string[];
  readonly env: Record<string, string>;
}

/** Where a Docker action finds the daemon's socket. */
export const CONTAINER_SOCKET = "/var/run/docker.sock";
const WORKSPACE = "/github/workspace";
const HOME = "/github/home";

// Folders that images have files of their own in, which a workspace of the same path would hide.
const IMAGE_FOLDERS: ReadonlySet<string> = new Set([
  "", WORKSPACE, "/github", "/app", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/root",
  "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
]); // oxfmt-ignore

// What decides how the client itself works. None of it is a secret, so the container's value may be an argument.
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
 * The command that runs a Docker action, as GitHub's runner does it. The container goes when it ends; it is root or whoever the
 * image says, so with Docker what it writes into the workspace belongs to that user on the host. Values of variables are in the
 * environment of the client, their names in its arguments. Values that are paths below a mount are those of the container; the
 * workspace is there under its path on the host, too, so that what the action starts through the socket can mount it.
 *
 * @throws {ExecuteError} REFERENCE_INVALID if there is no image
 */
export function dockerRunCommand(run: DockerRun): ContainerCommand {
  const { cli, image, name, label, network, mounts } = run;
  checkImage(image);
  const entrypoint = nonEmpty(run.entrypoint) ?? nonEmpty(run.withEntrypoint);
  const args = run.args ?? splitWords(run.withArgs ?? "");
  const passed = passVariables(containerEnv(run), run.clientEnv ?? {});
  const named = [
    `--name=${name}`,
    `--label=${label}`,
    ...(nonEmpty(network) === undefined ? [] : [`--network=${network}`]),
  ];
  const commandWith = (names: readonly string[]): string[] => [
    cli.program,
    "run",
    "--rm",
    ...names,
    `--workdir=${WORKSPACE}`,
    // Instead of new labels on files of the user.
    ...(cli.kind === "podman" ? ["--security-opt=label=disable"] : []),
    ...passed.options,
    ...mountOptions(mounts, run.socket),
    ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
    image,
    ...args,
  ];
  return { command: commandWith(named), shown: commandWith([]).slice(1), env: passed.env };
}

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

/** What a Docker action is built from. */
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
  // Of itself Podman makes images that know no SHELL and no HEALTHCHECK.
  const format = cli.kind === "podman" ? ["--format=docker"] : [];
  return [cli.program, "build", ...format, `--tag=${tag}`, `--file=${dockerfile}`, context];
}

/** The command that ends a container, whatever it does, and removes it. It fails where there is none any more. */
export function dockerRemoveCommand(cli: ContainerCli, name: string): string[] {
  // Podman asks it to end first, and waits for 10 s.
  const atOnce = cli.kind === "podman" ? ["--time=0"] : [];
  return [cli.program, "rm", "--force", ...atOnce, "--volumes", name];
}

/** A path of the host as the container has it; a text that is none below a mount stays as it is. */
export function toContainerPath(text: string, mounts: ContainerMounts): string {
  return translate(text, pairsOf(mounts));
}

/** A path of the container as the host has it: of a file in an annotation. */
export function toHostPath(text: string, mounts: ContainerMounts): string {
  return translate(
    text,
    pairsOf(mounts).map(([host, container]) => [container, host]),
  );
}

type Pair = readonly [from: string, to: string];

function pairsOf(mounts: ContainerMounts): Pair[] {
  const { workspace, temp, home, workflow, fileCommands } = mounts;
  return [
    [trimmed(temp), "/github/runner_temp"],
    [trimmed(home), HOME],
    [trimmed(workflow), "/github/workflow"],
    [trimmed(fileCommands), "/github/file_commands"],
    [trimmed(workspace), WORKSPACE],
  ];
}

function translate(text: string, pairs: readonly Pair[]): string {
  if (!text.startsWith("/")) return text;
  const byLength = pairs.toSorted(([a], [b]) => b.length - a.length);
  const pair = byLength.find(([from]) => from !== "" && (text === from || text.startsWith(`${from}/`)));
  return pair === undefined ? text : pair[1] + text.slice(pair[0].length);
}

function containerEnv({ env, mounts }: DockerRun): Record<string, string> {
  const given = Object.entries(env).filter(([name]) => name !== "");
  const pairs = pairsOf(mounts);
  return {
    CI: "true",
    ...Object.fromEntries(given.map(([name, value]) => [name, translate(value, pairs)])),
    GITHUB_ACTIONS: "true",
    HOME,
  };
}

function mountOptions(mounts: ContainerMounts, socket: string | undefined): string[] {
  const pairs: Pair[] = socket === undefined ? [] : [[socket, CONTAINER_SOCKET]];
  pairs.push(...pairsOf(mounts));
  const workspace = trimmed(mounts.workspace);
  if (!IMAGE_FOLDERS.has(workspace)) pairs.push([workspace, workspace]);
  return pairs.map(([source, target]) => bindOption(source, target));
}

/** The option is a line of CSV, and unlike `--volume` it takes paths with colons and does not make what is missing. */
function field(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @throws {ExecuteError} REFERENCE_INVALID if the client would take it for something else than an image */
export function checkImage(image: string): void {
  if (image === "" || image.startsWith("-") || /\s/.test(image)) {
    throw new ExecuteError("REFERENCE_INVALID", `No image is named by "${image}"`);
  }
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function definedOf(env: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
}
