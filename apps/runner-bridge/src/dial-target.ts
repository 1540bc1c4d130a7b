import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "@steps/console";
import {
  createSshDialer,
  type Dial,
  dialCommand,
  dialDocker,
  dialKubernetes,
  dialUnix,
  type DockerTls,
} from "@steps/dial";
import { splitWords } from "./split-words.ts";
import type { targetFlags, TargetOptions } from "./target-flags.ts";

/** A way to a service. */
export interface Target extends AsyncDisposable {
  readonly dial: Dial;
  /** The name of the target, for people and to tell targets apart. */
  readonly name: string;
  /** True when a path means the same here and at the service. */
  readonly isHere: boolean;
}

const KINDS = ["docker", "ssh", "kubernetes", "socket", "command"] as const;
type Kind = (typeof KINDS)[number];

/** A flag that belongs to some kinds of targets only. */
interface LimitedFlag {
  readonly name: keyof typeof targetFlags;
  readonly kinds: readonly Kind[];
  readonly isGiven: (options: TargetOptions) => boolean;
}

// `docker-tls` is not among them, since its value may come from the environment, where it is meant for Docker alone.
const LIMITED: readonly LimitedFlag[] = [
  { name: "identity", kinds: ["ssh"], isGiven: ({ identity }) => identity.length > 0 },
  { name: "known-hosts", kinds: ["ssh"], isGiven: ({ knownHosts }) => knownHosts.length > 0 },
  { name: "accept-new-host-key", kinds: ["ssh"], isGiven: ({ acceptNewHostKey }) => acceptNewHostKey },
  { name: "kubeconfig", kinds: ["kubernetes"], isGiven: ({ kubeconfig }) => kubeconfig !== undefined },
  { name: "context", kinds: ["kubernetes"], isGiven: ({ context }) => context !== undefined },
  { name: "proxy", kinds: ["docker", "ssh", "kubernetes"], isGiven: ({ proxy }) => proxy !== undefined },
];

/** The target that the flags name. @throws {UsageError}, a `DialError` for one that makes no sense */
export function openTarget(options: TargetOptions): Target {
  const given = KINDS.filter((kind) => options[kind] !== undefined);
  // On another machine it is a part of the way.
  const kinds = given.includes("ssh") ? given.filter((kind) => kind !== "socket") : given;
  if (kinds.length > 1) throw new UsageError(`Give one of ${kinds.map((kind) => `--${kind}`).join(" and ")}`);
  const [kind] = kinds;
  checkOptions(options, kind);
  const value = kind === undefined ? "" : (options[kind] as string);
  if (kind !== undefined && value === "") throw new UsageError(`--${kind} is empty`);
  if (kind === "docker") return remote(`docker ${value}`, dialContainer(options, value));
  if (kind === "kubernetes") return remote(`kubernetes ${value}`, dialPod(options, value));
  if (kind === "ssh") return openHost(options, value);
  if (kind === "command") {
    const [command, ...args] = splitWords("command", value);
    return remote(`command ${value}`, dialCommand({ command, args }));
  }
  const dial = dialUnix(kind === undefined ? { env: process.env } : { path: resolve(value) });
  return { ...remote(kind === undefined ? "this machine" : `socket ${resolve(value)}`, dial), isHere: true };
}

function checkOptions(options: TargetOptions, kind: Kind | undefined): void {
  for (const { name, kinds, isGiven } of LIMITED) {
    if (!isGiven(options) || (kind !== undefined && kinds.includes(kind))) continue;
    throw new UsageError(`--${name} is for ${kinds.map((of) => `--${of}`).join(", ")}`);
  }
}

function remote(name: string, dial: Dial): Target {
  return { name, dial, isHere: false, [Symbol.asyncDispose]: () => Promise.resolve() };
}

function dialContainer(options: TargetOptions, container: string): Dial {
  const { dockerHost: host, dockerTls: folder } = options;
  const command = proxyOf(options);
  return dialDocker({
    container,
    host,
    tls: folder === undefined ? undefined : readTls(folder),
    commands: command === undefined ? undefined : [command],
  });
}

function readTls(folder: string): DockerTls {
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

function dialPod(options: TargetOptions, place: string): Dial {
  const [namespace = "", pod = "", container, ...rest] = place.split("/");
  if (namespace === "" || pod === "" || container === "" || rest.length > 0)
    throw new UsageError(`--kubernetes is "${place}"`, "It takes NAMESPACE/POD or NAMESPACE/POD/CONTAINER.");
  const { kubeconfig, context } = options;
  return dialKubernetes({ namespace, pod, container, kubeconfig, context, command: proxyOf(options) });
}

function openHost(options: TargetOptions, address: string): Target {
  const { user, host, port } = readAddress(address);
  const { identity: identityFiles, knownHosts: knownHostsFiles, socket } = options;
  if (socket === "") throw new UsageError("--socket is empty");
  const dialer = createSshDialer({
    host,
    user,
    port,
    usesSshConfig: true,
    identityFiles: identityFiles.length === 0 ? undefined : identityFiles,
    knownHostsFiles: knownHostsFiles.length === 0 ? undefined : knownHostsFiles,
    strictHostKey: options.acceptNewHostKey ? "accept-new" : "yes",
    proxyCommand: proxyOf(options),
    socket,
  });
  const name = socket === undefined ? `ssh ${address}` : `ssh ${address} ${socket}`;
  return { ...remote(name, dialer.dial), [Symbol.asyncDispose]: () => dialer[Symbol.asyncDispose]() };
}

/** Reads `[USER@]HOST[:PORT]`; an IPv6 address with a port stands in brackets. @throws {UsageError} */
export function readAddress(address: string): { user: string | undefined; host: string; port: number | undefined } {
  const match =
    /^(?:(?<user>.+)@)?(?:\[(?<literal>[^\]]+)\](?::(?<port6>\d+))?|(?<name>[^:@]+)(?::(?<port>\d+))?|(?<bare>[^@[\]]*:[^@[\]]*:[^@[\]]*))$/.exec(
      address,
    );
  const { user, literal, name, bare, port, port6 } = match?.groups ?? {};
  const host = literal ?? name ?? bare;
  const number = port ?? port6;
  if (host === undefined || Number(number ?? 1) > 65_535 || Number(number ?? 1) === 0)
    throw new UsageError(`--ssh is "${address}"`, "It takes [USER@]HOST[:PORT].");
  return { user, host, port: number === undefined ? undefined : Number(number) };
}

function proxyOf({ proxy: text }: TargetOptions): readonly string[] | undefined {
  return text === undefined ? undefined : splitWords("proxy", text);
}
