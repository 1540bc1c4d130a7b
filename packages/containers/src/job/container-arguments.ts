import { passVariables } from "../client/docker-command.ts";
import type { ContainerCli } from "../client/find-container-cli.ts";
import type { ContainerSpec } from "./container-spec.ts";

/** A container that is started and left running. */
export interface ContainerStart {
  readonly cli: ContainerCli;
  readonly spec: ContainerSpec;
  readonly name: string;
  readonly label: string;
  readonly network: string;
  /** The name by which others on the network find it. */
  readonly alias?: string | undefined;
  /** Options for the client as a whole, and for `run`: where the credentials of the registry are. */
  readonly registry?: { readonly clientOptions: readonly string[]; readonly options: readonly string[] } | undefined;
  readonly clientEnv: Readonly<Record<string, string | undefined>>;
}

/** The properties of the job's container besides those that its author gives. */
export interface JobContainerStart extends ContainerStart {
  readonly workDir: string;
  /** Options of the client: `bindOption()`. */
  readonly mounts: readonly string[];
  /** Those that differ from run to run. */
  readonly unshown?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Absolute program, arguments; and the environment of the client. */
export interface StartCommand {
  readonly command: readonly string[];
  /** The arguments without what differs from run to run. */
  readonly shown: readonly string[];
  readonly env: Record<string, string>;
  /** The environment of the container as it may be shown. */
  readonly shownEnv: Readonly<Record<string, string>>;
}

/**
 * The first process of a job's container does nothing but be there, and takes leave of those that nobody else waits for. It ends
 * when the client's end of its standard input is closed, which for a detached container is never.
 */
const IDLE = "exec 3<&0; (read -r _ <&3) & wait";

/** The command that starts a service. */
export function serviceCommand(start: ContainerStart): StartCommand {
  const { spec } = start;
  const entrypoint = spec.entrypoint === undefined ? [] : [`--entrypoint=${spec.entrypoint}`];
  return startCommand(start, { env: spec.env, options: entrypoint, words: spec.command });
}

/** The command that starts the container that the steps of a job run in. */
export function jobContainerCommand(start: JobContainerStart): StartCommand {
  const { spec, workDir, mounts } = start;
  return startCommand(start, {
    env: { ...spec.env, ...start.env },
    options: ["--interactive", `--workdir=${workDir}`, ...mounts, "--entrypoint=/bin/sh"],
    words: ["-c", IDLE],
    unshown: start.unshown,
  });
}

function startCommand(
  { cli, spec, name, label, network, alias, registry, clientEnv }: ContainerStart,
  own: {
    readonly env: Readonly<Record<string, string>>;
    readonly options: readonly string[];
    readonly words: readonly string[];
    readonly unshown?: readonly string[] | undefined;
  },
): StartCommand {
  const passed = passVariables(own.env, clientEnv);
  const words = [
    ...(cli.kind === "podman" ? ["--security-opt=label=disable"] : []),
    ...spec.ports.map((port) => `--publish=${port}`),
    ...spec.volumes.map((volume) => `--volume=${volume}`),
    ...passed.options,
    // The author's options come before ours, which win: what is started has to be found again.
    ...spec.options,
  ];
  const last = [
    ...(alias === undefined || alias === "" ? [] : [`--network-alias=${alias}`]),
    ...own.options,
    spec.image,
    ...own.words,
  ];
  const start = [...(registry?.clientOptions ?? []), "run", "--detach", ...(registry?.options ?? [])];
  const names = [`--name=${name}`, `--label=${label}`, `--network=${network}`, ...(own.unshown ?? [])];
  const command = [cli.program, ...start, ...words, ...names, ...last];
  return { command, shown: ["run", "--detach", ...words, ...last], env: passed.env, shownEnv: own.env };
}
