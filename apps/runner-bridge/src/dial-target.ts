import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommandLine, type Flags, grouped, UsageError } from "@steps/console";
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

/** The flags that name the service and the way to it. */
export const targetFlags: Flags = {
  ...grouped("Where the service is", {
    docker: { type: "string", placeholder: "CONTAINER", summary: "The service in a Docker container, by exec" },
    ssh: {
      type: "string",
      placeholder: "[USER@]HOST[:PORT]",
      summary: "The service on a machine, by SSH; ~/.ssh/config counts",
    },
    kubernetes: { type: "string", placeholder: "NAMESPACE/POD[/CONTAINER]", summary: "The service in a pod, by exec" },
    socket: {
      type: "string",
      placeholder: "PATH",
      summary: "The service's socket, on this machine or on that of --ssh; its usual places by default",
    },
    command: {
      type: "string",
      placeholder: "COMMAND",
      summary: "A command whose standard input and output are the connection",
    },
  }),
  ...grouped("The way there", {
    proxy: {
      type: "string",
      placeholder: "COMMAND",
      summary: "What --docker, --ssh and --kubernetes run inside; by default step-runner proxy wherever it may be",
    },
    "docker-host": {
      type: "string",
      placeholder: "URL",
      summary: "The Docker daemon: unix:///PATH or tcp://HOST:PORT; by default as the docker command has it",
      env: "DOCKER_HOST",
    },
    "docker-tls": {
      type: "string",
      placeholder: "DIR",
      summary: "The folder with ca.pem, cert.pem and key.pem for the daemon",
      env: "RUNNER_BRIDGE_DOCKER_TLS",
    },
    identity: {
      type: "list",
      placeholder: "FILE",
      summary: "A private key for --ssh, before the agent's; repeat for more",
    },
    "known-hosts": {
      type: "list",
      placeholder: "FILE",
      summary: "The keys of hosts for --ssh, instead of ssh's own files; repeat for more",
    },
    "accept-new-host-key": {
      type: "boolean",
      summary: "Add the key of a host that is not known yet, rather than refuse it",
    },
    kubeconfig: {
      type: "string",
      placeholder: "FILE",
      summary: "How to reach the cluster; by default as kubectl has it, or the pod's service account",
    },
    context: { type: "string", placeholder: "NAME", summary: "The context of the kubeconfig" },
  }),
};

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

/** The flags that belong to some kinds of target only, with these kinds. */
const OPTIONS: Readonly<Record<string, readonly Kind[]>> = {
  "docker-tls": ["docker"],
  identity: ["ssh"],
  "known-hosts": ["ssh"],
  "accept-new-host-key": ["ssh"],
  kubeconfig: ["kubernetes"],
  context: ["kubernetes"],
  proxy: ["docker", "ssh", "kubernetes"],
};

/** The target that the flags name. @throws {UsageError}, a `DialError` for one that makes no sense */
export function openTarget(line: CommandLine): Target {
  const given = KINDS.filter((kind) => line.string(kind) !== undefined);
  // On another machine it is a part of the way.
  const kinds = given.includes("ssh") ? given.filter((kind) => kind !== "socket") : given;
  if (kinds.length > 1) throw new UsageError(`Give one of ${kinds.map((kind) => `--${kind}`).join(" and ")}`);
  const [kind] = kinds;
  checkOptions(line, kind);
  const value = kind === undefined ? "" : (line.string(kind) as string);
  if (kind !== undefined && value === "") throw new UsageError(`--${kind} is empty`);
  if (kind === "docker") return remote(`docker ${value}`, dialContainer(line, value));
  if (kind === "kubernetes") return remote(`kubernetes ${value}`, dialPod(line, value));
  if (kind === "ssh") return openHost(line, value);
  if (kind === "command") {
    const [command, ...args] = splitWords("command", value);
    return remote(`command ${value}`, dialCommand({ command, args }));
  }
  const dial = dialUnix(kind === undefined ? { env: process.env } : { path: resolve(value) });
  return { ...remote(kind === undefined ? "this machine" : `socket ${resolve(value)}`, dial), isHere: true };
}

function checkOptions(line: CommandLine, kind: Kind | undefined): void {
  for (const [name, kinds] of Object.entries(OPTIONS)) {
    const isGiven = name === "accept-new-host-key" ? line.boolean(name) : line.string(name) !== undefined;
    // A value of `docker-tls` may come from the environment, where it is not meant for other kinds of targets.
    if (!isGiven || (kind !== undefined && kinds.includes(kind)) || name === "docker-tls") continue;
    throw new UsageError(`--${name} is for ${kinds.map((of) => `--${of}`).join(", ")}`);
  }
}

function remote(name: string, dial: Dial): Target {
  return { name, dial, isHere: false, [Symbol.asyncDispose]: () => Promise.resolve() };
}

function dialContainer(line: CommandLine, container: string): Dial {
  const host = line.string("docker-host");
  const folder = line.string("docker-tls");
  const command = proxyOf(line);
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

function dialPod(line: CommandLine, place: string): Dial {
  const [namespace = "", pod = "", container, ...rest] = place.split("/");
  if (namespace === "" || pod === "" || container === "" || rest.length > 0)
    throw new UsageError(`--kubernetes is "${place}"`, "It takes NAMESPACE/POD or NAMESPACE/POD/CONTAINER.");
  const kubeconfig = line.string("kubeconfig");
  const context = line.string("context");
  const command = proxyOf(line);
  return dialKubernetes({
    namespace,
    pod,
    container,
    kubeconfig,
    context,
    command,
  });
}

function openHost(line: CommandLine, address: string): Target {
  const { user, host, port } = readAddress(address);
  const identityFiles = line.list("identity");
  const knownHostsFiles = line.list("known-hosts");
  const socket = line.string("socket");
  if (socket === "") throw new UsageError("--socket is empty");
  const dialer = createSshDialer({
    host,
    user,
    port,
    usesSshConfig: true,
    identityFiles: identityFiles.length === 0 ? undefined : identityFiles,
    knownHostsFiles: knownHostsFiles.length === 0 ? undefined : knownHostsFiles,
    strictHostKey: line.boolean("accept-new-host-key") ? "accept-new" : "yes",
    proxyCommand: proxyOf(line),
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

function proxyOf(line: CommandLine): readonly string[] | undefined {
  const text = line.string("proxy");
  return text === undefined ? undefined : splitWords("proxy", text);
}
