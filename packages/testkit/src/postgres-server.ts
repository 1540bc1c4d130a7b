import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, globSync, mkdtempSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProgram } from "./has-program.ts";
import { claimPostgresFolder, POSTGRES_PREFIX, removeOldServers } from "./postgres-leftovers.ts";
import { watchProcess } from "./watch-process.ts";

/** A PostgreSQL of its own, without a port. */
export interface PostgresServer {
  /** The folder with its socket. */
  readonly dir: string;
  /** The name of its user, who may do everything and needs no password. */
  readonly user: string;
  /** Makes an empty database and gives its URL. */
  readonly createDatabase: () => string;
  /** Ends the server as a power failure would, with all its connections. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same files. */
  readonly start: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

const bin = globSync("/usr/lib/postgresql/*/bin").toSorted().at(-1) ?? "/usr/lib/postgresql/bin";
const USER = "pod";

/** Whether there is a PostgreSQL on this machine. */
export const hasPostgres: boolean = hasProgram("initdb", `${bin}:${process.env["PATH"] ?? ""}`);

/**
 * Makes a server below the temporary directory and starts it. PostgreSQL refuses to run as root. The server ends with this process,
 * however that ends.
 */
export async function startPostgres(): Promise<PostgresServer> {
  await removeOldServers();
  const dir = mkdtempSync(join(tmpdir(), POSTGRES_PREFIX));
  claimPostgresFolder(dir);
  const owner = ownerOf();
  if (owner !== undefined) chownSync(dir, owner.uid, owner.gid);
  run("initdb", ["-D", join(dir, "data"), "-U", USER, "--auth=trust", "-E", "UTF8", "--no-sync", "--no-locale"]);
  let server: ChildProcess | undefined;
  let guard: ChildProcess | undefined;
  let databases = 0;
  const start = async (): Promise<void> => {
    const settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=300", "-k", dir];
    server = spawn(join(bin, "postgres"), ["-D", join(dir, "data"), ...settings], { ...owner, stdio: "pipe" });
    guard = guardServer(server.pid as number, dir);
    await watchProcess(server).printed("database system is ready to accept connections");
  };
  const stop = async (): Promise<void> => {
    guard?.kill("SIGKILL");
    if (server === undefined) return;
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    // Killed outright, its children would go on for a moment and keep the files.
    server.kill("SIGQUIT");
    await ended;
    server = undefined;
  };
  await start();
  return {
    dir,
    user: USER,
    start,
    kill: stop,
    createDatabase() {
      const name = `pod${++databases}`;
      run("createdb", ["-h", dir, "-U", USER, name]);
      return `postgres://${USER}@localhost/${name}?host=${encodeURIComponent(dir)}`;
    },
    async remove() {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };

  function run(program: string, args: readonly string[]): void {
    const { status, stderr } = spawnSync(join(bin, program), args, { ...owner, cwd: dir, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
  }
}

/** Ends the server and removes its files when this process is gone: then nobody holds the pipe any more. */
function guardServer(pid: number, dir: string): ChildProcess {
  const guard = spawn("sh", ["-c", 'cat >/dev/null; kill -QUIT "$0" && sleep 2; rm -rf "$1"', String(pid), dir], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  return guard;
}

function ownerOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const numberOf = (flag: string): number => Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: numberOf("-u"), gid: numberOf("-g") };
}
