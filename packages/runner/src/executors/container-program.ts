import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, sha256 } from "@steps/platform";
import { runBriefly } from "@steps/platform/processes";
import { RunnerError } from "../runner-error.ts";
import type { RunnerPlace } from "./executor.ts";

const BOOTSTRAP_MS = 120_000;

let making: Promise<string> | undefined;

/**
 * The folder with `step-runner` in a form that runs in any container, below the state directory: made by the first job, and again
 * when the program is another one. @throws {RunnerError} PLACE_FAILED
 */
export async function containerProgram(place: RunnerPlace): Promise<string> {
  making ??= makeProgram(place);
  try {
    return await making;
  } catch (error) {
    making = undefined;
    throw error;
  }
}

async function makeProgram({ stateDir, stepRunner }: RunnerPlace): Promise<string> {
  const root = join(stateDir, "programs");
  makePrivateFolder(root);
  const dir = join(root, await versionOf(stepRunner));
  if (existsSync(dir)) return dir;
  const draft = `${dir}.${process.pid}.tmp`;
  rmSync(draft, { recursive: true, force: true });
  const answer = await call(stepRunner, ["bootstrap", draft]);
  if (answer.exitCode !== 0) throw failure(stepRunner, answer.stderr);
  renameSync(draft, dir);
  // Containers of jobs that run may still have the one before.
  for (const name of readdirSync(root))
    if (name.endsWith(".tmp")) rmSync(join(root, name), { recursive: true, force: true });
  return dir;
}

// The whole program is too long to be read for its digest.
async function versionOf(program: string): Promise<string> {
  const answer = await call(program, ["--version"]);
  if (answer.exitCode !== 0) throw failure(program, answer.stderr);
  const { size, mtimeMs } = statSync(program);
  return sha256(JSON.stringify([answer.stdout, program, size, mtimeMs])).slice(0, 16);
}

function call(program: string, args: readonly string[]): ReturnType<typeof runBriefly> {
  return runBriefly({ program, args, env: process.env, timeoutMs: BOOTSTRAP_MS });
}

function failure(program: string, said: string): RunnerError {
  const words = said.trim().split("\n").at(-1) ?? "";
  return new RunnerError("PLACE_FAILED", `"${program}" cannot be used in containers: ${words || "no answer"}`);
}
