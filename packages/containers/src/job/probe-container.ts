import { createObject, type RuntimeString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { runBriefly } from "@steps/platform/processes";
import type { ContainerCli } from "../client/find-container-cli.ts";
import { ContainerError } from "../container-error.ts";
import { PROBE_SCRIPT } from "./container-scripts.ts";
import { endOfLog, inspectContainer } from "./inspect-container.ts";

const TIMEOUT_MS = 30_000;
/** The PATH that the engine gives to a container whose image sets none. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The properties of a job's container that were found. */
export interface ProbedContainer {
  readonly id: string;
  readonly env: EnvironmentRecord;
  readonly nodeCommand: readonly string[] | undefined;
  /** The number of its user if that one cannot write to the folder, `?` if it has none; absent: it can. */
  readonly strangeUser: string | undefined;
}

/** The container to look at. */
export interface Probe {
  readonly cli: ContainerCli;
  readonly container: string;
  /** The command of the Node.js that was carried into the container; undefined if none was. */
  readonly nodeCommand: readonly string[] | undefined;
  /** Absolute: where its processes are to work. */
  readonly workDir: string;
}

/** Looks at a job's container before its first step. @throws {ContainerError} CONTAINER_FAILED */
export async function probeContainer(probe: Probe, signal: AbortSignal): Promise<ProbedContainer> {
  const { cli, container, nodeCommand, workDir } = probe;
  const { id, isRunning, exitCode, env } = await inspectContainer(cli, container, signal);
  if (!isRunning) {
    const said = (await endOfLog(cli, container)).trim().split("\n").at(-1) ?? "";
    throw new ContainerError("CONTAINER_FAILED", `container: it has ended with exit status ${exitCode}: ${said}`);
  }
  const args = ["exec", container, "/bin/sh", "-c", PROBE_SCRIPT, "sh", workDir];
  const { program } = cli;
  const answer = await runBriefly({ program, args, env: process.env, timeoutMs: TIMEOUT_MS, signal });
  if (answer.exitCode !== 0) {
    const said = `${answer.stderr}${answer.stdout}`.trim().split("\n").at(-1) ?? "";
    throw new ContainerError("CONTAINER_FAILED", `container: nothing can be run in it: ${said}`);
  }
  const lines = answer.stdout.split("\n");
  const strangeUser = lines.includes("writable") ? undefined : userOf(lines);
  const base = Object.assign(createObject<RuntimeString>(), { PATH: DEFAULT_PATH }, env);
  return { id, env: base, nodeCommand: nodeCommand ?? (lines.includes("node") ? ["node"] : undefined), strangeUser };
}

function userOf(lines: readonly string[]): string {
  return lines.find((line) => line.startsWith("uid="))?.slice("uid=".length) ?? "?";
}
