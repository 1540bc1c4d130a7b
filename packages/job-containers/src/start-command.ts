import { bindOption, clientVariables, type ContainerCli, passVariables } from "@steps/containers";
import type { AwaitedService, Preparation, Prepared } from "./inside/preparation.ts";
import type { Restored } from "./job-folder.ts";
import { PROGRAM, PROGRAM_DIR, RUN_DIR, SOCKET } from "./places.ts";
import type { SharedFolder, WantedContainers, WantedImage, WantedService } from "./wanted.ts";

/** Arguments of the engine's client, and the client's environment. */
export interface ClientCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The facts of a container that is started besides its image. */
export interface ContainerPlace {
  readonly cli: ContainerCli;
  readonly name: string;
  readonly label: string;
  readonly network: string;
}

/** The folders of the host that are the job's own. */
export interface OwnFolders {
  /** Holds the program as `bootstrap` leaves it. */
  readonly program: string;
  /** The service's own files. */
  readonly run: string;
}

/** The variable in which GitLab's runner leaves the arguments of a program, for images whose entry point drops them. */
const ARGV_VARIABLE = "_GITLAB_RUNNER_HELPER_NATIVE_STEPS_ARGV";

/** The words that start our service as the first process of a job's container. */
export function serviceWords(flags: readonly string[]): readonly string[] {
  const args = ["serve", `--socket=${SOCKET}`, `--state-dir=${RUN_DIR}/state`, `--cache-dir=${RUN_DIR}/cache`];
  return [PROGRAM, ...args, ...flags];
}

/** The words that wait in there for services; `readPrepared()` reads the answer. @param timeoutMs for all of them */
export function awaitArguments(services: readonly AwaitedService[], timeoutMs: number): readonly string[] {
  const preparation: Preparation = { reference: PROGRAM_DIR, own: [], open: [], services, timeoutMs };
  return [PROGRAM, "job-container", "prepare", JSON.stringify(preparation)];
}

/** The answer of a preparation; `undefined` for a text that is none. */
export function readPrepared(text: string): Prepared | undefined {
  try {
    return JSON.parse(text) as Prepared;
  } catch {
    return undefined;
  }
}

/** The command that starts the container of a job: the service is its first process, by the entry point if there is one. */
export function jobCommand(
  place: ContainerPlace,
  wanted: WantedContainers,
  { folders, serveFlags }: { readonly folders: OwnFolders; readonly serveFlags: readonly string[] },
): ClientCommand {
  const { image, project, isPrivileged } = wanted;
  const words = serviceWords(serveFlags);
  const variables = { [ARGV_VARIABLE]: Buffer.from(JSON.stringify(words.slice(1))).toString("base64") };
  const options = [...mountsOf(wanted, folders), `--workdir=${project.target}`, "--network-alias=build"];
  return runCommand(place, image, { variables, options, words, isPrivileged });
}

/** The command that starts a service. */
export function serviceCommand(place: ContainerPlace, wanted: WantedContainers, service: WantedService): ClientCommand {
  const { project, serviceEnv, isPrivileged } = wanted;
  const options = [mountOf(project), ...service.hostNames.map((name) => `--network-alias=${name}`)];
  const variables = { ...serviceEnv, ...service.variables };
  return runCommand(place, service, { variables, options, words: service.command ?? [], isPrivileged });
}

/** The arguments that run our program once more on the job's folders, in a container that goes with it: after a kill. */
export function afterwardsArguments(
  { cli, label }: Pick<ContainerPlace, "cli" | "label">,
  wanted: Restored,
  { folders, words }: { readonly folders: OwnFolders; readonly words: readonly string[] },
): readonly string[] {
  const options = ["--network=none", "--user=0", `--label=${label}`, ...mountsOf(wanted, folders)];
  const isolation = cli.kind === "podman" ? ["--security-opt=label=disable"] : [];
  const start = ["run", "--rm", "--pull=never", ...isolation, ...options];
  return [...start, `--entrypoint=${PROGRAM}`, wanted.image.name, ...words];
}

/** The arguments that run our program in the container of the job, as its root. */
export function insideArguments(container: string, words: readonly string[]): readonly string[] {
  return ["exec", "--user=0", container, PROGRAM, ...words];
}

function runCommand(
  { cli, name, label, network }: ContainerPlace,
  { name: image, entrypoint, platform, user }: WantedImage,
  own: {
    readonly variables: Readonly<Record<string, string>>;
    readonly options: readonly string[];
    readonly words: readonly string[];
    readonly isPrivileged: boolean;
  },
): ClientCommand {
  const passed = passVariables(own.variables, clientVariables());
  // The option takes one program; its arguments come before those of the container.
  const [program, ...first] = entrypoint ?? [];
  const args = [
    "run",
    "--detach",
    "--pull=never",
    `--name=${name}`,
    `--label=${label}`,
    `--network=${network}`,
    ...(cli.kind === "podman" ? ["--security-opt=label=disable"] : []),
    ...(own.isPrivileged ? ["--privileged"] : []),
    ...(platform === undefined ? [] : [`--platform=${platform}`]),
    ...(user === undefined ? [] : [`--user=${user}`]),
    ...passed.options,
    ...own.options,
    ...(program === undefined ? [] : [`--entrypoint=${program}`]),
    image,
    ...first,
    ...own.words,
  ];
  return { args, env: passed.env };
}

function mountsOf({ project, stores }: Pick<WantedContainers, "project" | "stores">, folders: OwnFolders): string[] {
  return [
    bindOption(folders.program, PROGRAM_DIR, "ro"),
    bindOption(folders.run, RUN_DIR),
    mountOf(project),
    ...stores.map(mountOf),
  ];
}

function mountOf({ source, target }: SharedFolder): string {
  return bindOption(source, target);
}
