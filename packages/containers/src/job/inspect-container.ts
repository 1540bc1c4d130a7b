import { createObject } from "@steps/model";
import { runBriefly } from "@steps/platform/processes";
import type { ContainerCli } from "../client/find-container-cli.ts";
import { ContainerError } from "../container-error.ts";

const TIMEOUT_MS = 30_000;
const LOG_LINES = 50;
const MAX_CHARS = 4 * 1024 * 1024;

/** A container as its engine sees it. */
export interface ContainerFacts {
  readonly id: string;
  readonly isRunning: boolean;
  readonly exitCode: number;
  /** `starting`, `healthy`, `unhealthy`; empty: it has no health check. */
  readonly health: string;
  /** Ports of the host by those of the container, both texts. */
  readonly ports: Readonly<Record<string, string>>;
  /** As its image and its author set it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The part of the answer that is used. Podman has other names for some of it. */
interface Answer {
  readonly Id: string;
  readonly State: {
    readonly Running: boolean;
    readonly ExitCode: number;
    readonly Health?: { readonly Status?: string } | null;
    readonly Healthcheck?: { readonly Status?: string } | null;
  };
  readonly NetworkSettings: {
    readonly Ports?: Readonly<Record<string, readonly { readonly HostPort?: string }[] | null>> | null;
  };
  readonly Config: { readonly Env?: readonly string[] | null };
}

/** Asks for a container by its name. @throws {ContainerError} CONTAINER_FAILED */
export async function inspectContainer(cli: ContainerCli, name: string, signal: AbortSignal): Promise<ContainerFacts> {
  const args = ["inspect", "--type=container", "--format={{json .}}", name];
  const call = { program: cli.program, args, env: process.env, timeoutMs: TIMEOUT_MS, maxChars: MAX_CHARS, signal };
  const answer = await runBriefly(call);
  try {
    const { Id: id, State: state, NetworkSettings: settings, Config: config } = JSON.parse(answer.stdout) as Answer;
    const { Running: isRunning, ExitCode: exitCode, Health, Healthcheck } = state;
    const health = (Health ?? Healthcheck)?.Status ?? "";
    return { id, isRunning, exitCode, health, ports: portsOf(settings.Ports ?? {}), env: envOf(config.Env ?? []) };
  } catch (cause) {
    const said = answer.stderr.trim().split("\n").at(-1) ?? "";
    const problem = said === "" ? "no usable answer" : said;
    throw new ContainerError("CONTAINER_FAILED", `the container cannot be looked at: ${problem}`, { cause });
  }
}

/** The end of what a container has written. */
export async function endOfLog(cli: ContainerCli, name: string): Promise<string> {
  const { program } = cli;
  const args = ["logs", `--tail=${LOG_LINES}`, name];
  const { stdout, stderr } = await runBriefly({ program, args, env: process.env, timeoutMs: TIMEOUT_MS });
  return [stdout, stderr].filter((text) => text !== "").join("\n");
}

function portsOf(ports: NonNullable<Answer["NetworkSettings"]["Ports"]>): Record<string, string> {
  const found = createObject<string>();
  for (const [port, bindings] of Object.entries(ports)) {
    const host = bindings?.[0]?.HostPort ?? "";
    if (host !== "") found[port.replace(/\/.*$/, "")] ??= host;
  }
  return found;
}

function envOf(env: readonly string[]): Record<string, string> {
  const found = createObject<string>();
  for (const entry of env) {
    const at = entry.indexOf("=");
    if (at > 0) found[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return found;
}
