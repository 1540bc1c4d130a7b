import { dirname } from "node:path";
import {
  clientVariables,
  type ContainerCli,
  findContainerCli,
  findContainerSocket,
  labelOfJob,
  removeContainer,
} from "@steps/containers";
import { ExecuteError, isSuccess, type Run, type StepEnd } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, revealString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { sha256 } from "@steps/platform";
import { inputEnvironment, stateEnvironment } from "../actions/action-inputs.ts";
import type { ActionInstance, ActionPhase } from "../job/action-instance.ts";
import type { ActionCommand } from "../process/action-command.ts";
import { runActionProcess } from "../process/action-process.ts";
import { NO_CLI } from "../containers/check-containers.ts";
import { type ActionScope, NOTHING } from "../job/action-scope.ts";
import { buildImage } from "../containers/build-image.ts";
import { type ContainerMounts, dockerRunCommand, toHostPath } from "../containers/docker-action-command.ts";
import { pathInAction } from "./path-in-action.ts";

/** Runs one phase of a Docker action. The image of a Dockerfile is built first, once in a job. */
export async function runDockerAction(
  run: Run,
  instance: ActionInstance,
  { phase, path }: { readonly phase: ActionPhase; readonly path: string },
): Promise<StepEnd> {
  const cli = findContainerCli(process.env["PATH"]);
  if (cli === undefined) throw new ExecuteError("COMMAND_NOT_FOUND", NO_CLI);
  const image = await imageOf(run, instance, cli);
  if (typeof image !== "string") return image;
  const { scope, inputs, state, id, call } = instance;
  const services = await scope.job.services();
  const env = { ...services, ...stateEnvironment(state), ...inputEnvironment(inputs) };
  const command = (all: EnvironmentRecord): ActionCommand =>
    containerCommand(run, instance, { cli, image, phase, path, env: all });
  const stepDir = call.opened.dir;
  return runActionProcess(run, { scope: { ...scope, path }, id, env, state, stepDir, command });
}

async function imageOf(run: Run, instance: ActionInstance, cli: ContainerCli): Promise<string | StepEnd> {
  const { part, scope, call } = instance;
  const image = part.image ?? "";
  const named = /^docker:\/\/(.+)$/i.exec(image)?.[1];
  if (named !== undefined) return named;
  const { dir, root, component } = call.opened;
  const dockerfile = pathInAction(run, { dir, root }, image);
  const key = component?.digest["gitTree"] ?? root ?? dir;
  const tag = `steps-action:${sha256(`${key}\0${call.opened.subpath}\0${image}`).slice(0, 24)}`;
  const { images } = scope.job;
  let built = images.get(tag);
  if (built === undefined) {
    built = buildImage(run, { title: call.title, cli, dockerfile, context: dirname(dockerfile), tag });
    images.set(tag, built);
  }
  const end = await built;
  return isSuccess(end.outcome.status) ? tag : end;
}

interface ContainerCall {
  readonly cli: ContainerCli;
  readonly image: string;
  readonly phase: ActionPhase;
  readonly path: string;
  readonly env: EnvironmentRecord;
}

function containerCommand(run: Run, instance: ActionInstance, call: ContainerCall): ActionCommand {
  const { cli, image, phase, path } = call;
  const { part, inputs, scope } = instance;
  const label = labelOfJob(run.cookie);
  const name = `steps-${run.cookie.slice(0, 12)}-${path.replaceAll("/", ".")}`;
  const text = (template: string): string => evaluateText(template, { contexts: { ...NOTHING, inputs: scope.inputs } });
  const given = (wanted: string): string | undefined => {
    const found = Object.entries(inputs).find(([input]) => input.toLowerCase() === wanted);
    return found === undefined ? undefined : revealString(found[1]);
  };
  const entrypoint = { pre: part.pre, main: part.entrypoint, post: part.post }[phase];
  const mounts = mountsOf(run, scope);
  const { command, shown, env } = dockerRunCommand({
    cli,
    image,
    name,
    label,
    entrypoint: entrypoint === undefined ? undefined : text(entrypoint),
    args: part.args?.map(text),
    withEntrypoint: given("entrypoint"),
    withArgs: given("args"),
    mounts,
    socket: findContainerSocket(cli, process.env),
    network: scope.job.network,
    env: containerEnvironment(instance, call.env),
    clientEnv: clientVariables(),
  });
  const cleanUp = async (): Promise<void> => {
    if (run.signal.aborted) await removeContainer(cli, { name, env: process.env });
  };
  const { workDir } = run.job;
  const client = { command: ["docker", ...command.slice(1)], workDir, env };
  const toHost = (inside: string): string => toHostPath(inside, mounts);
  return { command: ["docker", ...shown], program: cli.program, workDir, env, client, toHost, cleanUp };
}

function mountsOf(run: Run, { job: { dirs } }: ActionScope): ContainerMounts {
  const { temp, home, workflow, commands } = dirs;
  return { workspace: run.job.workDir, temp, home, workflow, fileCommands: commands };
}

// The container gets nothing of the machine's own environment, and the variables of the action's definition win over none.
function containerEnvironment(instance: ActionInstance, all: EnvironmentRecord): Record<string, string> {
  const { definition, scope } = instance;
  const declared = scope.environment.declared();
  const { base } = scope.environment;
  const env = createObject<string>();
  for (const [name, value] of Object.entries(all)) {
    if (Object.hasOwn(base, name) && base[name] === value && !Object.hasOwn(declared, name)) continue;
    env[name] = revealString(value);
  }
  delete env["PATH"];
  for (const [name, template] of Object.entries(definition.env)) {
    env[name] ??= evaluateText(template, { contexts: { ...NOTHING, inputs: scope.inputs } });
  }
  return env;
}
