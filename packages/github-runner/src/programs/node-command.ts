import { existsSync } from "node:fs";
import { join } from "node:path";
import { launchedNode } from "@steps/containers/own-program";
import { ExecuteError, type Run, tell } from "@steps/executor/kit";
import { createObject, type RuntimeString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { ownNode } from "@steps/platform/runtime";
import type { ActionCommand } from "../process/action-command.ts";
import { inputText } from "../job/input-text.ts";
import type { ActionScope } from "../job/action-scope.ts";
import { commandInContainer } from "../containers/command-in-container.ts";
import type { JobContainer } from "../job/job-container.ts";
import { findNode } from "./find-node.ts";
import { pathInAction } from "./path-in-action.ts";

interface NodeCall {
  readonly scope: ActionScope;
  /** The absolute folder of the manifest. */
  readonly stepDir: string;
  /** The absolute folder of the repository; `undefined` for an action in the workspace. */
  readonly root: string | undefined;
  /** The runtime that the manifest names: `node20`. */
  readonly using: string;
  /** The path of the main file, from the manifest's folder. */
  readonly file: string;
  readonly env: EnvironmentRecord;
}

/** Returns the command of a JavaScript action. @throws {ExecuteError} COMMAND_NOT_FOUND */
export async function nodeCommand(
  run: Run,
  { scope, stepDir, root, using, file, env }: NodeCall,
): Promise<ActionCommand> {
  const main = pathInAction(run, { dir: stepDir, root }, file);
  if (!existsSync(main)) {
    throw new ExecuteError("COMMAND_NOT_FOUND", `exec: the action has no file "${file}"`, {
      hint: "An action that is built is published with its bundle; this version may not be meant to be run.",
    });
  }
  const own = Object.assign(createObject<RuntimeString>(), env);
  delete own["NODE_ICU_DATA"];
  const { container } = scope.job;
  if (container !== undefined) return nodeInContainer(run, container, { scope, main, env: own });
  const found = await findNode(using, {
    path: env["PATH"] === undefined ? undefined : String(env["PATH"]),
    toolCacheDir: inputText(scope.job.description.runner["tool_cache"] ?? scope.job.host.toolCacheDir),
    env: process.env,
    own: ownNode(),
  });
  if (found.note !== undefined) {
    tell(run, { type: "note", at: Date.now(), path: scope.path, level: "warning", ...found.note });
  }
  const { workDir } = run.job;
  const { jobTmp } = run;
  const launched = found.program === ownNode()?.program ? launchedNode(join(jobTmp, "own-node")) : undefined;
  const words = ["node", ...(launched?.slice(1) ?? []), main];
  return { command: words, program: found.program, workDir, env: own };
}

function nodeInContainer(
  run: Run,
  container: JobContainer,
  { scope, main, env }: Pick<NodeCall, "scope" | "env"> & { readonly main: string },
): ActionCommand {
  if (container.nodeCommand === undefined) {
    throw new ExecuteError("COMMAND_NOT_FOUND", "exec: there is no Node.js in the container of the job", {
      hint: "That of the runner cannot be taken along from this system: use an image that has one.",
    });
  }
  const command = [...container.nodeCommand, main];
  return commandInContainer(run, container, {
    command,
    workDir: run.job.workDir,
    env,
    environment: scope.environment,
  });
}
