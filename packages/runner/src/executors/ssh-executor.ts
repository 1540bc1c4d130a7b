import { join } from "node:path";
import { createSshDialer, type SshDialer } from "@steps/dial";
import { RunnerError } from "../runner-error.ts";
import type { SshConfig } from "../config/runner-config.ts";
import type { Executor } from "./executor.ts";
import { absoluteFolder, projectPath, slotPath } from "./job-paths.ts";

const DIR = "/var/tmp/runner-bridge";

/**
 * Jobs on another machine, in the service of the user there, which is started if need be. It knows all jobs by their ids, so that a
 * lost connection, and a runner that was killed, find them again.
 */
export const sshExecutor: Executor = {
  sharesService: true,
  folders(job) {
    const { config } = job;
    const buildsDir = absoluteFolder("builds_dir", config.builds_dir ?? join(DIR, "builds"));
    const caches = absoluteFolder("cache_dir", config.cache_dir ?? join(DIR, "cache"));
    const projectDir = join(buildsDir, slotPath(job), projectPath(job));
    return { buildsDir, projectDir, cacheDir: join(caches, projectPath(job)) };
  },
  open({ config: { ssh } }) {
    const { dial } = dialerOf(ssh);
    return Promise.resolve({ dial, env: {}, problem: () => Promise.resolve(undefined) });
  },
  // The service forgets jobs by itself; their files are below its own folder.
  remove: () => Promise.resolve(),
  async close() {
    const open = [...dialers.values()];
    dialers.clear();
    await Promise.all(open.map((dialer) => dialer[Symbol.asyncDispose]()));
  },
};

// One connection for all jobs of a machine.
const dialers = new Map<string, SshDialer>();

function dialerOf(ssh: SshConfig): SshDialer {
  const key = JSON.stringify(ssh);
  const known = dialers.get(key);
  if (known !== undefined) return known;
  const { user, host, port } = readSshAddress(ssh.host);
  const dialer = createSshDialer({
    host,
    user,
    port,
    usesSshConfig: true,
    identityFiles: ssh.identity_files.length === 0 ? undefined : ssh.identity_files,
    knownHostsFiles: ssh.known_hosts_file === undefined ? undefined : [ssh.known_hosts_file],
    socket: ssh.socket,
    startsService: true,
  });
  dialers.set(key, dialer);
  return dialer;
}

/** Reads `[USER@]HOST[:PORT]`; an IPv6 address stands in brackets. @throws {RunnerError} CONFIG_INVALID */
function readSshAddress(address: string): { user: string | undefined; host: string; port: number | undefined } {
  const found = /^(?:(?<user>[^@\s]+)@)?(?:\[(?<literal>[^\]\s]+)\]|(?<name>[^:@\s]+))(?::(?<port>\d{1,5}))?$/u.exec(
    address,
  );
  const { user, literal, name, port } = found?.groups ?? {};
  const host = literal ?? name;
  if (host === undefined) throw new RunnerError("CONFIG_INVALID", `ssh.host is "${address}", not [USER@]HOST[:PORT]`);
  return { user, host, port: port === undefined ? undefined : Number(port) };
}
