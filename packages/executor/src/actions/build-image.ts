import { createObject, emptySpec, type RuntimeString } from "@steps/model";
import { finishStep, guard } from "../finish-step.ts";
import { placesOf } from "../level.ts";
import { outcomeOfError } from "../outcome.ts";
import { inPlace } from "../resolve-reference.ts";
import { type Run, tell } from "../run.ts";
import { startProcess } from "../start-process.ts";
import type { StepEnd } from "../step-end.ts";
import { StepFiles } from "../step-files.ts";
import type { ActionScope } from "./action-scope.ts";
import { clientVariables } from "./container-client.ts";
import { dockerBuildCommand } from "./docker-command.ts";
import type { ContainerCli } from "./find-container-cli.ts";

/** An image to build. */
export interface ImageBuild {
  readonly scope: ActionScope;
  /** Of the action. */
  readonly title: string;
  readonly cli: ContainerCli;
  /** Absolute. */
  readonly dockerfile: string;
  readonly context: string;
  readonly tag: string;
}

/** Builds the image of an action, in a record of its own before the action's. */
export async function buildImage(run: Run, build: ImageBuild): Promise<StepEnd> {
  const path = String(run.state.nextPhase++);
  tell(run, { type: "step-opened", at: Date.now(), path, name: `Build ${build.title}`, phase: "pre" });
  const end = await guard(run, () => runBuild(run, path, build));
  finishStep(run, path, end);
  return end;
}

async function runBuild(run: Run, path: string, { cli, dockerfile, context, tag }: ImageBuild): Promise<StepEnd> {
  const [program = "", ...args] = dockerBuildCommand({ cli, dockerfile, context, tag });
  const command = ["docker", ...args];
  const definition = { type: "exec", command, env: {} } as const;
  const { definitionDigest } = inPlace({ spec: emptySpec, definition }, { dir: context, root: undefined });
  const places = placesOf(run, { dir: context, files: new StepFiles(run.request.jobTmp) });
  const nothing = { inputs: {}, env: {} };
  const specDefinition = { spec: emptySpec, definition };
  const at = Date.now();
  tell(run, { type: "step-planned", at, path, specDefinition, definitionDigest, subpath: "", inputs: {}, invocation: nothing, definitionEnv: {}, places }); // prettier-ignore
  const log = run.hooks.openLog(path);
  const env = Object.assign(createObject<RuntimeString>(), clientVariables());
  const ended = await startProcess(run, { path, program, command, workDir: context, env, places }, log);
  const summary = await log.close();
  const { exitCode, spawnError } = ended;
  const process = {
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(summary === undefined ? {} : { log: summary }),
  };
  if (spawnError !== undefined)
    return { outcome: outcomeOfError(spawnError, "run"), outputs: {}, exports: {}, process };
  if (exitCode === 0) return { outcome: { status: "success" }, outputs: {}, exports: {}, process };
  const error = { code: "EXIT_STATUS", message: `the image of the action cannot be built: exit status ${exitCode}` };
  return { outcome: { status: "failure", ...process, error }, outputs: {}, exports: {}, process };
}
