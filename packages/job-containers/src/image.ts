import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  clientVariables,
  type ContainerCli,
  ContainerError,
  openCredentials,
  type RegistryCredentials,
} from "@steps/containers";
import { printable } from "@steps/model/diagnostic";
import { runBriefly } from "@steps/platform/processes";
import type { PullPolicy, WantedImage } from "./wanted.ts";

const INSPECT_MS = 30_000;
const PULL_MS = 60 * 60_000;
const MAX_CHARS = 1024 * 1024;
/** GitLab's runner looks at no more. */
const MAX_PORTS = 20;

/** An image that is here. */
export interface ImageFacts {
  readonly id: string;
  /** `name@sha256:…`; absent for an image that was made here. */
  readonly digest: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** The TCP ports that it exposes, in order, twenty at most. */
  readonly ports: readonly number[];
}

/** The options for getting images. */
export interface ImageContext {
  readonly cli: ContainerCli;
  /** Absolute: where credentials are kept for as long as an image is pulled. */
  readonly stateDir: string;
  /** The credentials for an image. Without any those of the user are tried. */
  readonly credentialsFor?: ((image: string) => RegistryCredentials | undefined) | undefined;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Brings an image here by its pull policies. @throws {ContainerError} CONTAINER_FAILED when none of them gives it */
export async function ensureImage(context: ImageContext, image: WantedImage): Promise<ImageFacts> {
  const policies: readonly PullPolicy[] = image.pullPolicies.length === 0 ? ["if-not-present"] : image.pullPolicies;
  const problems: string[] = [];
  for (const policy of new Set(policies)) {
    const there = policy === "always" ? undefined : await inspectImage(context, image);
    if (there !== undefined) return there;
    const problem = policy === "never" ? "it is not here, and its pull policy is never" : await pull(context, image);
    if (problem === undefined) {
      const pulled = await inspectImage(context, image);
      if (pulled !== undefined) return pulled;
    }
    context.signal.throwIfAborted();
    problems.push(problem ?? "it was pulled, and is not there");
    if (problems.length < policies.length) context.say(`The image ${image.name} cannot be had (${policy}): ${problem}`);
  }
  throw new ContainerError(
    "CONTAINER_FAILED",
    `the image ${JSON.stringify(image.name)} cannot be had: ${problems.at(-1)}`,
  );
}

async function pull(context: ImageContext, { name, platform }: WantedImage): Promise<string | undefined> {
  const { cli, stateDir, signal, say } = context;
  const credentials = context.credentialsFor?.(name);
  say(`Pulling image ${name}${credentials === undefined ? "" : ` as ${printable(credentials.username)}`}`);
  const dir = join(stateDir, `registry-${randomBytes(8).toString("hex")}`);
  const registry = credentials && (await openCredentials(cli, credentials, { image: name, dir, signal }));
  try {
    const platforms = platform === undefined ? [] : [`--platform=${platform}`];
    const own = registry ?? { clientOptions: [], options: [], env: {} };
    const args = [...own.clientOptions, "pull", "--quiet", ...own.options, ...platforms, name];
    const env = { ...process.env, ...own.env };
    const answer = await runBriefly({ program: cli.program, args, env, timeoutMs: PULL_MS, signal });
    if (answer.exitCode === 0) return undefined;
    const said = printable(answer.stderr.trim().split("\n").at(-1) ?? "");
    return said === "" ? "no answer" : said;
  } finally {
    registry?.remove();
  }
}

interface Answer {
  readonly Id: string;
  readonly RepoDigests?: readonly string[] | null;
  readonly Os?: string;
  readonly Architecture?: string;
  readonly Config?: {
    readonly Env?: readonly string[] | null;
    readonly ExposedPorts?: Readonly<Record<string, unknown>> | null;
  } | null;
}

/** An image that is here already; `undefined`: it is not, or is one for another platform than is wanted. */
async function inspectImage(
  { cli, signal }: ImageContext,
  { name, platform }: WantedImage,
): Promise<ImageFacts | undefined> {
  const args = ["image", "inspect", "--format={{json .}}", name];
  const call = { program: cli.program, args, env: clientVariables(), timeoutMs: INSPECT_MS, maxChars: MAX_CHARS };
  const answer = await runBriefly({ ...call, signal });
  if (answer.exitCode !== 0) return undefined;
  const {
    Id: id,
    RepoDigests: digests,
    Config: config,
    Os: os,
    Architecture: architecture,
  } = readAnswer(answer.stdout);
  if (platform !== undefined && !platform.startsWith(`${os}/${architecture}`)) return undefined;
  return { id, digest: digests?.[0], env: envOf(config?.Env ?? []), ports: portsOf(config?.ExposedPorts ?? {}) };
}

function readAnswer(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch (cause) {
    throw new ContainerError("CONTAINER_FAILED", "the engine's answer about an image makes no sense", { cause });
  }
}

// The wire takes these names alone, and the program's own folder has to stay in front of PATH.
function envOf(env: readonly string[]): Record<string, string> {
  const pairs = env.flatMap((text) => {
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([^]*)$/.exec(text) ?? [];
    return name === undefined || value === undefined || name === "PATH" ? [] : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}

function portsOf(exposed: Readonly<Record<string, unknown>>): number[] {
  const ports = Object.keys(exposed).flatMap((text) => {
    const [, port] = /^(\d+)(?:\/tcp)?$/.exec(text) ?? [];
    return port === undefined ? [] : [Number(port)];
  });
  return ports.toSorted((left, right) => left - right).slice(0, MAX_PORTS);
}
