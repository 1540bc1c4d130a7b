import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { TransferError, systemCode } from "../error.ts";
import { askHelper } from "./credential-helper.ts";
import type { Credentials, DockerConfig } from "./docker-config.ts";
import { findCredentials, findHelper, parseDockerConfig } from "./docker-config.ts";

const REGISTRY_USER = "CI_REGISTRY_USER";

/** The environments in which credentials are looked for. */
export interface CredentialSources {
  /** The step's environment, with the exports of earlier steps. */
  readonly stepEnv: Readonly<Record<string, string>>;
  /** The runner's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
}

const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * The credentials for a repository, in the order of GitLab's runner: `DOCKER_AUTH_CONFIG`, Docker's `config.json` of the
 * user, and the job's own for GitLab's registry. In a configuration a helper for the registry comes before what it holds
 * itself, as in Docker. `undefined` when there are none.
 *
 * @throws {TransferError} AUTH_FAILED
 */
export async function credentialsFor(
  registry: string,
  repository: string,
  sources: CredentialSources,
): Promise<Credentials | undefined> {
  for (const open of [jobConfig, userConfig]) {
    const opened = await open(sources);
    const found = opened && (await fromConfig(opened, { registry, repository, signal: sources.signal }));
    if (found !== undefined) return found;
  }
  return jobCredentials(registry, sources);
}

/** Whether credentials of one registry may be sent to a token server on another host: the author or GitLab named it. */
export async function isKnownTokenHost(host: string, sources: CredentialSources): Promise<boolean> {
  if (host === variable(sources, "CI_SERVER_HOST")?.toLowerCase()) return true;
  for (const open of [jobConfig, userConfig]) {
    const config = (await open(sources))?.config;
    if (config?.auths.has(host) === true || config?.credHelpers.has(host) === true) return true;
  }
  return false;
}

function variable({ stepEnv, env }: CredentialSources, name: string): string | undefined {
  const value = stepEnv[name] ?? env[name];
  return value === undefined || value.trim() === "" ? undefined : value;
}

/** A configuration, and the environment that its helpers see: whoever named a helper gets no secret of others. */
interface OpenedConfig {
  readonly config: DockerConfig;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function jobConfig(sources: CredentialSources): Promise<OpenedConfig | undefined> {
  const text = variable(sources, "DOCKER_AUTH_CONFIG");
  if (text === undefined) return undefined;
  const isOfStep = text === sources.stepEnv["DOCKER_AUTH_CONFIG"];
  return { config: parseDockerConfig(text, "DOCKER_AUTH_CONFIG"), env: isOfStep ? sources.stepEnv : sources.env };
}

async function userConfig({ env }: CredentialSources): Promise<OpenedConfig | undefined> {
  const dir = env["DOCKER_CONFIG"] ?? join(env["HOME"] ?? homedir(), ".docker");
  const path = join(dir, "config.json");
  try {
    const { size } = await stat(path);
    if (size > MAX_CONFIG_BYTES) {
      throw new TransferError("AUTH_FAILED", `Cannot read "${path}": it is larger than ${MAX_CONFIG_BYTES} bytes`);
    }
    return { config: parseDockerConfig(await readFile(path, "utf8"), `"${path}"`), env };
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw error;
  }
}

async function fromConfig(
  { config, env }: OpenedConfig,
  options: { registry: string; repository: string; signal: AbortSignal | undefined },
): Promise<Credentials | undefined> {
  const { registry, repository, signal } = options;
  const helper = findHelper(config, registry, repository);
  if (helper !== undefined) {
    const server = registry === "docker.io" ? "https://index.docker.io/v1/" : registry;
    const found = await askHelper(helper, server, { env, signal });
    if (found !== undefined) return found;
  }
  return findCredentials(config, registry, repository);
}

// The variables of a job of GitLab are good for the registry that they name and no other.
function jobCredentials(registry: string, sources: CredentialSources): Credentials | undefined {
  const named = variable(sources, "CI_REGISTRY")
    ?.replace(/^https?:\/\//i, "")
    .replace(/\/.*$/, "");
  const username = variable(sources, REGISTRY_USER);
  const password = variable(sources, "CI_REGISTRY_PASSWORD");
  if (named?.toLowerCase() !== registry || username === undefined || password === undefined) return undefined;
  return { username, password, source: REGISTRY_USER };
}
