import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type ContainerCli, ContainerError, labelOfJob, type RegistryCredentials } from "@steps/containers";
import { endOfLog, inspectContainer, JobNetwork } from "@steps/containers/job";
import { dialCommand, DialError } from "@steps/dial/command";
import type { Dial } from "@steps/client";
import { checkOptionNames, type OptionNames, messageOf } from "@steps/model";
import { printable } from "@steps/model/bounded-text";
import { runBriefly } from "@steps/platform/processes";
import { ensureImage, type ImageFacts } from "./image.ts";
import type { Preparation } from "./inside/preparation.ts";
import {
  createJobFolder,
  fillJobFolder,
  type JobFolder,
  type JobRecord,
  readRecord,
  removeJobFolder,
} from "./job-folder.ts";
import { PROGRAM, PROGRAM_DIR, RUN_DIR, SOCKET } from "./places.ts";
import { type ClientCommand, insideArguments, jobCommand, readPrepared, serviceCommand } from "./start-command.ts";
import { removeJob, restoreArguments, restoreWords } from "./sweep.ts";
import type { WantedContainers, WantedService } from "./wanted.ts";

/** The options by which the containers of a job are made. */
export interface ContainerOptions {
  readonly cli: ContainerCli;
  /** Absolute: where what is needed of a job is kept while it runs. */
  readonly stateDir: string;
  /** The folder with the program as `step-runner bootstrap` leaves it: absolute. */
  readonly programDir: string;
  /** The credentials for an image. Without any those of the user are tried. */
  readonly credentialsFor?: ((image: string) => RegistryCredentials | undefined) | undefined;
  /** Flags of the service in the container. */
  readonly serveFlags: readonly string[];
  /** Told what happens before the job begins, a sentence each. */
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  readonly signal: AbortSignal;
  /** The register in which containers that outlive this process are found again. Default: they end with it. */
  readonly kept?: KeptContainers | undefined;
}

/** The name of a job's containers and its folder, which are known before they are made. */
export interface KeptContainers {
  /** A name that no other job of the engine has: letters, digits and dashes. */
  readonly id: string;
  /** Absolute; it is made with the containers. */
  readonly folder: string;
}

/** The containers of a job, running, with a service in the job's own. */
export interface OpenContainers extends AsyncDisposable {
  /** Connects to the service. */
  readonly dial: Dial;
  /** The name of the job's container. */
  readonly container: string;
  readonly image: ImageFacts;
  /** Why the container of the job does not run any more; `undefined` when it does. */
  problem(): Promise<string | undefined>;
}

const START_MS = 60_000;
const SERVICES_MS = 30_000;
const RESTORE_MS = 10 * 60_000;
const LOG_CHARS = 4000;
const LAST_LINES = 3;

export const CONTAINER_OPTION_NAMES: OptionNames<ContainerOptions> = {
  cli: true,
  stateDir: true,
  programDir: true,
  credentialsFor: true,
  serveFlags: true,
  say: true,
  warn: true,
  signal: true,
  kept: true,
};

/**
 * Gets the images of a job, starts its services and its container on a network of their own, and waits until the services answer,
 * for 30 seconds at most. When it is disposed of, or this process is killed, all of that goes, and the files in the folders belong to
 * the user again.
 *
 * @throws {ContainerError} CONTAINER_FAILED
 */
export async function openContainers(wanted: WantedContainers, options: ContainerOptions): Promise<OpenContainers> {
  checkOptionNames("openContainers()", options, CONTAINER_OPTION_NAMES);
  const { cli, signal } = options;
  const images = await ensureImages(wanted, options);
  const { kept } = options;
  const id = kept?.id ?? randomBytes(8).toString("hex");
  const record = recordOf(wanted, options, id);
  const folder = kept === undefined ? createJobFolder(options.stateDir, record) : fillJobFolder(kept.folder, record);
  const opening = new Opening(wanted, options, { id, images, folder, record });
  try {
    const last = restoreArguments(cli, folder, record);
    opening.network = await JobNetwork.create(cli, id, {
      signal,
      last,
      folder: folder.path,
      isKept: kept !== undefined,
    });
    await opening.start();
    return opening;
  } catch (error) {
    await opening[Symbol.asyncDispose]();
    throw error;
  }
}

/** Finds containers again that an earlier process has made to be kept, whether they run or not. @throws {ContainerError} CONTAINER_FAILED */
export async function reopenContainers(
  wanted: WantedContainers,
  options: ContainerOptions & { readonly kept: KeptContainers },
): Promise<OpenContainers> {
  const { id, folder: path } = options.kept;
  const images = await ensureImages(wanted, options);
  const folder = { path, run: join(path, "run") };
  return new Opening(wanted, options, { id, images, folder, record: recordOf(wanted, options, id) });
}

/**
 * Removes containers that were made to be kept with all that belongs to them, and gives the files of the job back to the user.
 * Gives whether nothing is left. Never rejects.
 */
export async function removeContainers(cli: ContainerCli, { folder: path }: KeptContainers): Promise<boolean> {
  const record = readRecord(path);
  if (record === undefined) return removeJobFolder(path);
  const isGone = await removeJob(cli, { path, run: join(path, "run") }, record);
  return isGone && removeJobFolder(path);
}

function recordOf(
  { image, project, stores }: WantedContainers,
  { programDir }: ContainerOptions,
  id: string,
): JobRecord {
  return { id, network: `steps-${id}`, program: programDir, wanted: { image: { name: image.name }, project, stores } };
}

interface Images {
  readonly job: ImageFacts;
  readonly services: ReadonlyMap<WantedService, ImageFacts>;
}

async function ensureImages({ image, services }: WantedContainers, options: ContainerOptions): Promise<Images> {
  const found = new Map<WantedService, ImageFacts>();
  for (const service of services) found.set(service, await ensureImage(options, service));
  return { job: await ensureImage(options, image), services: found };
}

interface OpeningFacts {
  readonly id: string;
  readonly images: Images;
  readonly folder: JobFolder;
  readonly record: JobRecord;
}

class Opening implements OpenContainers {
  readonly container: string;
  readonly image: ImageFacts;
  readonly dial: Dial;
  network: JobNetwork | undefined;
  readonly #wanted: WantedContainers;
  readonly #options: ContainerOptions;
  readonly #facts: OpeningFacts;
  /** Until the container has said who runs in it, everybody may. */
  #hasStrangers = false;

  constructor(wanted: WantedContainers, options: ContainerOptions, facts: OpeningFacts) {
    this.#wanted = wanted;
    this.#options = options;
    this.#facts = facts;
    this.container = `${facts.record.network}-job`;
    this.image = facts.images.job;
    const args = ["exec", "--interactive", this.container, PROGRAM, "proxy", `--socket=${SOCKET}`];
    this.dial = dialWhile(dialCommand({ command: options.cli.program, args }), () => this.problem());
  }

  async start(): Promise<void> {
    const { services, image } = this.#wanted;
    const { say } = this.#options;
    for (const service of services) say(`Starting service ${service.name}`);
    say(`Running in a container of ${image.name}`);
    await Promise.all([this.#startJob(), ...services.map((service, index) => this.#startService(service, index))]);
    await this.#prepare();
  }

  async problem(): Promise<string | undefined> {
    const { cli } = this.#options;
    const facts = await inspectContainer(cli, this.container, AbortSignal.timeout(START_MS)).catch(factsOfNone);
    if (facts === undefined) return "the container of the job is gone: it was removed by somebody else";
    const { isRunning, exitCode } = facts;
    if (isRunning) return undefined;
    const lines = (await endOfLog(cli, this.container)).split("\n").map((line) => line.trim());
    const said = lines.filter((line) => line !== "").slice(-LAST_LINES);
    const quoted = said.length === 0 ? "" : `: ${said.join("; ")}`;
    return `the container of the job has ended with exit status ${exitCode}${quoted}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { cli, warn } = this.#options;
    const { folder, record } = this.#facts;
    if (this.#hasStrangers) await this.#restore();
    if (this.network !== undefined && !(await this.network.remove()))
      warn(`Containers of the job may be left; they have the label ${labelOfJob(record.id)}`);
    if (removeJobFolder(folder.path)) return;
    // The container had ended before its files could be given back.
    const args = restoreArguments(cli, folder, record);
    await runBriefly({ program: cli.program, args, env: process.env, timeoutMs: RESTORE_MS });
    if (!removeJobFolder(folder.path))
      warn(`Files of the job that belong to another user are left in "${folder.path}"`);
  }

  async #startJob(): Promise<void> {
    const { image } = this.#wanted;
    const { programDir: program, serveFlags } = this.#options;
    const folders = { program, run: this.#facts.folder.run };
    this.#hasStrangers = true;
    const command = jobCommand(this.#place(this.container), this.#wanted, { folders, serveFlags });
    await this.#run(command, `the image ${JSON.stringify(image.name)} cannot be started`);
  }

  async #startService(service: WantedService, index: number): Promise<void> {
    const command = serviceCommand(this.#place(this.#nameOf(index)), this.#wanted, service);
    await this.#run(command, `the service ${JSON.stringify(service.name)} cannot be started`);
  }

  #nameOf(index: number): string {
    return `${this.#facts.record.network}-${index}`;
  }

  #place(name: string): Parameters<typeof serviceCommand>[0] {
    const { id, network } = this.#facts.record;
    return { cli: this.#options.cli, name, label: labelOfJob(id), network };
  }

  async #run({ args, env }: ClientCommand, failure: string): Promise<void> {
    const { cli, signal } = this.#options;
    const answer = await runBriefly({ program: cli.program, args, env, timeoutMs: START_MS, signal });
    signal.throwIfAborted();
    if (answer.exitCode === 0) return;
    const said = answer.stderr.trim().replace(/\n[^]*See '[^']*--help'\.?$/, "");
    throw new ContainerError("CONTAINER_FAILED", `${failure}: ${said || "no answer"}`);
  }

  /** Lets the job's user at its folders, and waits for the services. */
  async #prepare(): Promise<void> {
    const { cli, signal, say, warn } = this.#options;
    const { project, stores, services } = this.#wanted;
    const awaited = services.flatMap((service, index) => {
      const ports = this.#portsOf(service);
      return ports.length === 0 ? [] : [{ name: String(index), host: this.#nameOf(index), ports }];
    });
    if (awaited.length > 0) say(`Waiting for services to be up and running (timeout ${SERVICES_MS / 1000} seconds)`);
    const preparation: Preparation = {
      reference: PROGRAM_DIR,
      own: [RUN_DIR, ...(project.isPrivate ? [project.target] : [])],
      open: stores.map(({ target }) => target),
      services: awaited,
      timeoutMs: SERVICES_MS,
    };
    const args = insideArguments(this.container, ["job-container", "prepare", JSON.stringify(preparation)]);
    const call = { program: cli.program, args, env: process.env, timeoutMs: RESTORE_MS, signal };
    const answer = await runBriefly(call);
    signal.throwIfAborted();
    const prepared = readPrepared(answer.stdout);
    if (prepared === undefined) {
      const problem = await this.problem().catch(messageOf);
      const said = answer.stderr.trim().split("\n").at(-1) ?? "";
      throw new ContainerError("CONTAINER_FAILED", problem ?? `the container of the job cannot be used: ${said}`, {
        hint: 'An entry point that does not start the command that it is given is taken away by entrypoint: [""].',
      });
    }
    this.#hasStrangers = prepared.hasStrangers;
    for (const problem of prepared.problems) warn(`The user of the container may lack rights: ${problem}`);
    for (const name of prepared.silent) warn(await this.#describeSilent(Number(name)));
  }

  #portsOf(service: WantedService): readonly number[] {
    const own = Number(service.variables["HEALTHCHECK_TCP_PORT"] ?? this.#wanted.serviceEnv["HEALTHCHECK_TCP_PORT"]);
    if (Number.isInteger(own) && own > 0 && own < 65_536) return [own];
    return this.#facts.images.services.get(service)?.ports ?? [];
  }

  async #describeSilent(index: number): Promise<string> {
    const { cli } = this.#options;
    const name = this.#wanted.services[index]?.name ?? "";
    const log = printable((await endOfLog(cli, this.#nameOf(index))).trim().slice(-LOG_CHARS));
    const said = log === "" ? "It has written nothing." : `The end of its log:\n${log}`;
    return `The service ${name} probably did not start properly: none of its ports answers. ${said}`;
  }

  async #restore(): Promise<void> {
    const { cli } = this.#options;
    const args = insideArguments(this.container, restoreWords(this.#wanted));
    await runBriefly({ program: cli.program, args, env: process.env, timeoutMs: RESTORE_MS });
  }
}

/** Docker's and Podman's words for a container that does not exist; whatever else is wrong is thrown again. */
function factsOfNone(error: unknown): undefined {
  if (!/no such (?:container|object)/i.test(messageOf(error))) throw error;
}

/** A container that has ended is not dialled again. */
function dialWhile(dial: Dial, findProblem: () => Promise<string | undefined>): Dial {
  return async (signal) => {
    try {
      return await dial(signal);
    } catch (cause) {
      const problem = signal.aborted ? undefined : await findProblem().catch(messageOf);
      if (problem === undefined) throw cause;
      throw new DialError("NO_SERVICE", problem, { cause, isPermanent: true });
    }
  };
}
