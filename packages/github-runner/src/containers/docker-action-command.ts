import { bindOption, checkImage, CONTAINER_SOCKET, type ContainerCli, passVariables } from "@steps/containers";
import { splitWords } from "./split-words.ts";

/** Folders of the host, absolute, that a Docker action finds under `/github`. */
export interface ContainerMounts {
  readonly workspace: string;
  /** The folder of `RUNNER_TEMP`. */
  readonly temp: string;
  readonly home: string;
  /** The folder of the event's file. */
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
  /** The manifest's entrypoint for `main`, `pre` or `post`. It wins over the caller's; absent: the manifest has none. */
  readonly entrypoint?: string | undefined;
  /** The manifest's arguments, expanded. Even an empty list wins over the caller's; `undefined`: the manifest has none. */
  readonly args: readonly string[] | undefined;
  readonly withEntrypoint?: string | undefined;
  /** The raw command line `with.args`. */
  readonly withArgs?: string | undefined;
  readonly mounts: ContainerMounts;
  /** The socket of the daemon, where there is one: `findContainerSocket()`. */
  readonly socket?: string | undefined;
  /** All variables that the container gets. The PATH of the host is not for it. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables that the client needs for itself: `HOME`, `PATH`, `DOCKER_HOST` … */
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

const WORKSPACE = "/github/workspace";
const HOME = "/github/home";

// Folders that images have files of their own in, which a workspace of the same path would hide.
const IMAGE_FOLDERS: ReadonlySet<string> = new Set([
  "", WORKSPACE, "/github", "/app", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/mnt", "/opt", "/proc", "/root",
  "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var",
]); // oxfmt-ignore

/**
 * Returns the command that runs a Docker action, as GitHub's runner does it. The container is removed when it ends. Its user is
 * the one that the image names, or root: with Docker, the files that it writes into the workspace belong to that user on the host. Values of variables are in the
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

function trimmed(path: string): string {
  return path.replace(/\/+$/, "");
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
