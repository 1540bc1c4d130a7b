import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  clientVariables,
  type ContainerCli,
  ContainerError,
  findContainerCli,
  openCredentials,
} from "@steps/containers";
import {
  type ContainerSpec,
  inspectContainer,
  jobContainerCommand,
  JobNetwork,
  LoopbackRelay,
  probeContainer,
  serviceCommand,
  type StartCommand,
} from "@steps/containers/job";
import { ExecuteError, isSuccess, outcomeOfParent, type Run, type StepEnd, tell } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, type Value } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { type ActionScope, evaluationOf } from "../job/action-scope.ts";
import { checkContainers, NO_CLI } from "./check-containers.ts";
import { runCliStep } from "./run-cli-step.ts";
import { readContainerSpec } from "./container-spec.ts";
import { prepareMounts } from "./job-mounts.ts";
import { waitHealthy } from "./wait-healthy.ts";

/** The containers of a job, running. */
export interface OpenContainers {
  /** The container's own variables, which those of the job's steps are put above; `undefined`: the job has no container. */
  readonly base: EnvironmentRecord | undefined;
  /** The failure of the first container that could not be started: the job cannot begin. `undefined`: all of them run. */
  readonly failure: StepEnd | undefined;
  /** Removes the containers and their network. Never rejects. */
  close(): Promise<void>;
}

/** The containers as the job's definition has them; `undefined`: it has none. */
export interface WantedContainers {
  readonly container: Value | undefined;
  readonly services: Readonly<Record<string, Value>> | undefined;
}

/** A container of the job and what is wanted of it. */
interface Wanted {
  /** The name of the service; absent for the container of the job. */
  readonly name?: string;
  readonly spec: ContainerSpec;
}

/**
 * Starts the services of a job, waits until they are healthy, and starts the container that its steps run in. `undefined`: it has
 * neither. What expressions see as `job.container` and `job.services` is in the job's contexts then.
 *
 * @throws {ExecuteError} REFERENCE_INVALID, COMMAND_NOT_FOUND, CONTAINER_FAILED before anything is started
 */
export async function openJobContainers(
  run: Run,
  scope: ActionScope,
  wanted: WantedContainers,
): Promise<OpenContainers | undefined> {
  try {
    return await open(run, scope, wanted);
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    throw new ExecuteError(error.code, error.message, { cause: error, hint: error.hint });
  }
}

async function open(run: Run, scope: ActionScope, wanted: WantedContainers): Promise<OpenContainers | undefined> {
  const services = readServices(run, scope, wanted.services ?? {});
  const spec = readSpec(run, scope, { value: wanted.container, what: "container" });
  if (services.length === 0 && spec === undefined) return undefined;
  const problem = await checkContainers(run);
  const cli = findContainerCli(process.env["PATH"]);
  if (problem !== undefined || cli === undefined) {
    const what = spec === undefined ? "the services of the job" : "the container of the job";
    throw new ExecuteError("CONTAINER_FAILED", `${what} cannot be started: ${problem ?? NO_CLI}`);
  }
  const network = await JobNetwork.create(cli, run.cookie, { signal: run.signal });
  scope.job.network = network.name;
  const opening = { run, scope, cli, network };
  let failure: StepEnd | undefined;
  let base: EnvironmentRecord | undefined;
  try {
    failure = await startServices(opening, services);
    if (failure === undefined && spec !== undefined) {
      const started = await startJobContainer(opening, spec);
      if ("base" in started) ({ base } = started);
      else failure = started;
    }
  } catch (error) {
    await remove(run, network);
    throw error;
  }
  return { base, failure, close: () => remove(run, network) };
}

async function remove(run: Run, network: JobNetwork): Promise<void> {
  if (await network.remove()) return;
  const message = `Containers of the job may be left; they have the label ${network.label}`;
  tell(run, { type: "note", at: Date.now(), path: "", level: "warning", code: "containers-left", message });
}

interface Opening {
  readonly run: Run;
  readonly scope: ActionScope;
  readonly cli: ContainerCli;
  readonly network: JobNetwork;
}

function readServices(run: Run, scope: ActionScope, services: Readonly<Record<string, Value>>): Wanted[] {
  return Object.entries(services).flatMap(([name, value]) => {
    const spec = readSpec(run, scope, { value, what: `service "${name}"` });
    return spec === undefined ? [] : [{ name, spec }];
  });
}

function readSpec(
  run: Run,
  scope: ActionScope,
  { value, what }: { readonly value: Value | undefined; readonly what: string },
): ContainerSpec | undefined {
  if (value === undefined) return undefined;
  return readContainerSpec(value, what, (text) => evaluateText(text, evaluationOf(run, scope)));
}

async function startServices(opening: Opening, services: readonly Wanted[]): Promise<StepEnd | undefined> {
  const { run, scope, cli, network } = opening;
  const facts = createObject<Value>();
  const waiting: { container: string; title: string }[] = [];
  for (const [index, { name = "", spec }] of services.entries()) {
    const container = `${network.name}-${index}`;
    const title = `Start service ${name}`;
    const failure = await start(opening, { title, container, spec }, (common) =>
      serviceCommand({ ...common, alias: name }),
    );
    if (failure !== undefined) return failure;
    const { id, ports, health, isRunning, exitCode } = await inspectContainer(cli, container, run.signal);
    facts[name] = { id, network: network.name, ports };
    if (health !== "") waiting.push({ container, title: `Wait for service ${name}` });
    else if (!isRunning) warnEnded(run, name, exitCode);
  }
  setContext(scope, { services: facts });
  for (const { container, title } of waiting) {
    const { outcome } = await waitHealthy(run, { cli, container, title });
    if (!isSuccess(outcome.status)) return endOf(outcome, title);
  }
  return undefined;
}

function warnUser(run: Run, user: string): void {
  const message = `The container runs as user ${user}, who cannot write to the files of the job: steps may fail; "options: --user 0" makes it root`;
  tell(run, { type: "note", at: Date.now(), path: "", level: "warning", code: "container-user", message });
}

function warnEnded(run: Run, name: string, exitCode: number): void {
  const message = `The service "${name}" has ended already, with exit status ${exitCode}`;
  tell(run, { type: "note", at: Date.now(), path: "", level: "warning", code: "service-ended", message });
}

async function startJobContainer(
  opening: Opening,
  spec: ContainerSpec,
): Promise<StepEnd | { readonly base: EnvironmentRecord }> {
  const { run, scope, cli, network } = opening;
  const { workDir } = run.job;
  const { dirs } = scope.job;
  const { mounts, nodeCommand } = prepareMounts(run, scope, cli);
  const container = `${network.name}-job`;
  const title = "Start container";
  // Git takes no working tree of another user without being told.
  const safe = `[safe]\n\tdirectory = ${JSON.stringify(workDir)}\n`;
  mkdirSync(dirs.home, { recursive: true });
  writeFileSync(join(dirs.home, ".gitconfig"), safe, { mode: 0o644 });
  const relay = new LoopbackRelay(network.socketDir, join(run.jobTmp, "container-node"));
  network.addRelay(relay);
  const failure = await start(opening, { title, container, spec }, (common) =>
    jobContainerCommand({ ...common, workDir, mounts, unshown: [relay.mount], env: { HOME: dirs.home } }),
  );
  if (failure !== undefined) return failure;
  const probed = await probeContainer({ cli, container, nodeCommand, workDir }, run.signal);
  if (probed.strangeUser !== undefined) warnUser(run, probed.strangeUser);
  setContext(scope, { container: { id: probed.id, network: network.name } });
  const { id, nodeCommand: node } = probed;
  const reach = async (ports: readonly number[]): Promise<void> => {
    if (node !== undefined) await relay.open({ cli, name: container, nodeCommand: node }, ports);
  };
  scope.job.container = { cli, name: container, id, nodeCommand: node, reach };
  return { base: probed.env };
}

/** One container: its credentials are there while its image is pulled, and the command that starts it is a record. */
async function start(
  { run, cli, network }: Opening,
  { title, container, spec }: { readonly title: string; readonly container: string; readonly spec: ContainerSpec },
  commandOf: (common: Parameters<typeof serviceCommand>[0]) => StartCommand,
): Promise<StepEnd | undefined> {
  const { credentials, image } = spec;
  const dir = join(run.jobTmp, "registry");
  const registry =
    credentials === undefined ? undefined : await openCredentials(cli, credentials, { image, dir, signal: run.signal });
  try {
    const clientEnv = { ...clientVariables(), ...registry?.env };
    const { label, name } = network;
    const started = commandOf({ cli, spec, name: container, label, network: name, registry, clientEnv });
    const failure = `the image ${JSON.stringify(image)} cannot be pulled or started`;
    const { outcome } = await runCliStep(run, {
      name: title,
      ...started,
      isQuiet: true,
      workDir: run.job.workDir,
      failure,
    });
    return isSuccess(outcome.status) ? undefined : endOf(outcome, title);
  } finally {
    registry?.remove();
  }
}

function endOf(outcome: StepEnd["outcome"], title: string): StepEnd {
  return { outcome: outcomeOfParent(outcome, JSON.stringify(title)), outputs: {}, exports: {} };
}

function setContext({ job }: ActionScope, facts: Readonly<Record<string, Value>>): void {
  const before = job.contexts["job"] as Readonly<Record<string, Value>> | undefined;
  job.contexts = { ...job.contexts, job: { ...before, ...facts } };
}
