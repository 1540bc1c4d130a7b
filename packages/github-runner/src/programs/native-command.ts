import { join } from "node:path";
import { ExecuteError, type Run } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, revealString, type RuntimeString, sensitive } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { outsideOfContainer } from "../containers/command-in-container.ts";
import { jobVariable } from "../job/action-job.ts";
import type { ActionInstance, ActionPhase } from "../job/action-instance.ts";
import type { ActionCommand } from "../process/action-command.ts";
import { evaluationOf } from "../job/action-scope.ts";

/**
 * The command of a program of the runner's own. It is told the phase and the job variables that its definition names, and
 * apart from that it is started as an action is. Names of variables have no hyphens: a shell may start it, and shells drop
 * such variables. @throws {ExecuteError} REFERENCE_INVALID
 */
export function nativeCommand(
  run: Run,
  { call, definition, scope }: ActionInstance,
  { phase, env }: { readonly phase: ActionPhase; readonly env: EnvironmentRecord },
): ActionCommand {
  if (definition.type !== "exec") throw new ExecuteError("REFERENCE_INVALID", "the action has no command");
  const words = definition.command.map((word) => evaluateText(word, evaluationOf(run, scope)));
  const [name = "", ...rest] = words;
  const command: RuntimeString[] = [name, ...rest, ...(phase === "main" ? [] : [phase])];
  const all = createObject<RuntimeString>();
  const seen = scope.job.container === undefined ? env : outsideOfContainer(env, scope.environment, run);
  for (const [variable, value] of Object.entries(seen)) {
    all[variable.startsWith("INPUT_") ? variable.replaceAll("-", "_") : variable] = value;
  }
  // A program without inputs gets no job variables: a replay would have to be given them again.
  const wanted = Object.keys(call.given).length === 0 ? [] : Object.keys(definition.env);
  for (const variable of wanted) {
    const value = jobVariable(run, variable);
    if (value !== undefined) all[variable] = definition.env[variable] === "secret" ? sensitive(value) : value;
  }
  // The program is no part of the job: its git has to find the user's own configuration.
  const { HOME } = process.env;
  if (HOME !== undefined && revealed(all["HOME"]) === scope.job.dirs.home) all["HOME"] = HOME;
  return { command, program: join(call.opened.dir, name), workDir: run.job.workDir, env: all };
}

function revealed(value: RuntimeString | undefined): string {
  return value === undefined ? "" : revealString(value);
}
