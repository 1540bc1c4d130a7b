import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { tempDir } from "./temp-dir.ts";

export interface SshServerOptions {
  /** Further lines of sshd_config, which come first and so win: `MaxSessions 2`, `SetEnv PATH=…`. */
  readonly config?: readonly string[];
  /** The type of the host's key: `ed25519` by default. */
  readonly hostKeyType?: "ed25519" | "ecdsa" | "rsa";
  /** Listens here again, as a server that is started anew. */
  readonly port?: number;
}

/** A real sshd on loopback, with keys of its own, that lets this user in. */
export interface SshServer extends AsyncDisposable {
  readonly host: "127.0.0.1";
  readonly port: number;
  readonly user: string;
  /** Holds all its files; whatever lies there may be changed while it runs. */
  readonly dir: string;
  /** A private key that is let in; the public one is beside it, with `.pub`. */
  readonly identityFile: string;
  /** Has the host's key. */
  readonly knownHostsFile: string;
  /** `ssh-ed25519 AAAA…` */
  readonly hostKey: string;
  /** How many connections there are. */
  connections(): number;
  /** Kills the process of every connection, or stops it (SIGSTOP), as a machine that goes down; the server stays. Returns how many. */
  cut(signal?: NodeJS.Signals): number;
  stop(): Promise<void>;
}

const ATTEMPTS = 5;

/** Makes keys, `ssh-keygen -t TYPE`; returns the private one's path. */
export async function sshKey(
  dir: string,
  options: { name: string; type?: string; passphrase?: string },
): Promise<string> {
  const file = join(dir, options.name);
  const args = ["-q", "-t", options.type ?? "ed25519", "-N", options.passphrase ?? "", "-C", "test", "-f", file];
  await promisify(execFile)("ssh-keygen", args);
  return file;
}

/** Starts `/usr/sbin/sshd` in a new folder and waits until it listens. */
export async function startSshServer(options: SshServerOptions = {}): Promise<SshServer> {
  const dir = tempDir("sshd-");
  const hostKeyFile = await sshKey(dir, { name: "host_key", type: options.hostKeyType ?? "ed25519" });
  const identityFile = await sshKey(dir, { name: "id_ed25519" });
  copyFileSync(`${identityFile}.pub`, join(dir, "authorized_keys"));
  // The folder that sshd locks itself into before somebody is logged in.
  if (userInfo().uid === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    try {
      const sshd = await listen(dir, { ...options, port });
      return describe(dir, { port, hostKeyFile, identityFile, ...sshd });
    } catch (error) {
      // Another process may have been given the port meanwhile.
      if (attempt === ATTEMPTS || options.port !== undefined) throw error;
    }
  }
}

interface Running {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

function describe(
  dir: string,
  is: Running & { readonly port: number; readonly hostKeyFile: string; readonly identityFile: string },
): SshServer {
  const hostKey = readFileSync(`${is.hostKeyFile}.pub`, "utf8").split(" ").slice(0, 2).join(" ");
  const knownHostsFile = join(dir, "known_hosts");
  writeFileSync(knownHostsFile, `[127.0.0.1]:${is.port} ${hostKey}\n`);
  return {
    host: "127.0.0.1",
    port: is.port,
    user: userInfo().username,
    dir,
    identityFile: is.identityFile,
    knownHostsFile,
    hostKey,
    connections: () => childrenOf(is.pid).length,
    cut: (signal) => killAll(childrenOf(is.pid), signal),
    stop: is.stop,
    [Symbol.asyncDispose]: is.stop,
  };
}

async function listen(dir: string, options: SshServerOptions & { readonly port: number }): Promise<Running> {
  const lines = [
    ...(options.config ?? []),
    "ListenAddress 127.0.0.1",
    `Port ${options.port}`,
    `HostKey ${join(dir, "host_key")}`,
    `AuthorizedKeysFile ${join(dir, "authorized_keys")}`,
    "StrictModes no",
    "UsePAM no",
    "PidFile none",
    "PermitRootLogin prohibit-password",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
    "MaxStartups 1000",
    "LogLevel INFO",
  ];
  writeFileSync(join(dir, "sshd_config"), `${lines.join("\n")}\n`);
  const child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", join(dir, "sshd_config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = once(child, "exit");
  const log: string[] = [];
  const listening = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (log.length < 1000) log.push(line);
      if (line.startsWith("Server listening")) resolve();
    });
  });
  const stop = async (): Promise<void> => {
    killAll(childrenOf(child.pid as number));
    child.kill("SIGKILL");
    await exited;
  };
  const isUp = await Promise.race([listening.then(() => true), exited.then(() => false)]);
  if (!isUp) throw new Error(`sshd does not start: ${log.join("\n")}`);
  return { pid: child.pid as number, stop };
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; a zombie has ended already.
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? -1 : Number(parent);
  } catch {
    return -1;
  }
}

function killAll(pids: readonly number[], signal: NodeJS.Signals = "SIGKILL"): number {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended by itself.
    }
  }
  return pids.length;
}
