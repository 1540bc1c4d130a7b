import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBriefly } from "@steps/platform/processes";
import type { ContainerCli } from "./find-container-cli.ts";

const TIMEOUT_MS = 10_000;

/** Who asks a registry for an image. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** Credentials for one image, where only the command that pulls it finds them. */
export interface OpenCredentials {
  readonly clientOptions: readonly string[];
  readonly options: readonly string[];
  /** The variables that the client needs to find its daemon without the user's configuration. */
  readonly env: Readonly<Record<string, string>>;
  remove(): void;
}

/** The key of an image's registry in the client's configuration. */
export function registryOf(image: string, kind: ContainerCli["kind"]): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  if (isHost && first !== "docker.io") return first;
  return kind === "podman" ? "docker.io" : "https://index.docker.io/v1/";
}

/** Writes credentials to a private folder of their own: nobody is logged in, and nothing of them is in an argument. */
export async function openCredentials(
  cli: ContainerCli,
  { username, password }: RegistryCredentials,
  { image, dir, signal }: { readonly image: string; readonly dir: string; readonly signal: AbortSignal },
): Promise<OpenCredentials> {
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const file = join(dir, "config.json");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(file, JSON.stringify({ auths: { [registryOf(image, cli.kind)]: { auth } } }), { mode: 0o600 });
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  if (cli.kind === "podman") return { clientOptions: [], options: [`--authfile=${file}`], env: {}, remove };
  const host = await hostOfContext(cli, signal);
  return {
    clientOptions: [`--config=${dir}`],
    options: [],
    env: host === undefined ? {} : { DOCKER_HOST: host },
    remove,
  };
}

// The user's own configuration names the daemon to talk to, and it is not the one that is used now.
async function hostOfContext(cli: ContainerCli, signal: AbortSignal): Promise<string | undefined> {
  if ((process.env["DOCKER_HOST"] ?? "") !== "") return undefined;
  const args = ["context", "inspect", "--format={{.Endpoints.docker.Host}}"];
  const { program } = cli;
  const answer = await runBriefly({ program, args, env: process.env, timeoutMs: TIMEOUT_MS, signal });
  const host = answer.stdout.trim();
  return answer.exitCode === 0 && /^\w+:\/\/\S+$/.test(host) ? host : undefined;
}
