import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { freePort, watchProcess } from "@steps/testkit";
import { type PostgresServer, startPostgres } from "@steps/testkit/postgres-server";
import { spawn } from "node:child_process";
import { environmentIn } from "../kit/environment.ts";
import type { Random } from "../kit/random.ts";
import { REAL_TAG } from "./judge.ts";
import { Owner } from "./owner.ts";
import { Program } from "./program.ts";
import { type Relay, startRelay } from "./relay.ts";

const BIN = resolve(import.meta.dirname, "../../../../node_modules/.bin");
const WORKER = join(import.meta.dirname, "small-runner-worker.ts");
const READY = /listening at|Taking jobs/;
const SLOTS = 8;
/** Seconds. A job whose runner was killed ends after the silence; one that no runner confirmed is given to another after the lease. */
const LEASE = "10s";
const SILENCE = "30s";

/** A program of the world that may be killed. */
export interface Victim {
  readonly kind: "pod" | "router" | "small runner" | "our runner";
  readonly program: Program;
  /** The time from which it may be killed again, on the clock of `performance`. */
  mayEndAt: number;
}

/** Pods, routers and runners, each a process of its own, with relays between them that can be cut. */
export interface World {
  readonly victims: readonly Victim[];
  /** The relays between runners and routers, and between routers and pods. */
  readonly relays: readonly Relay[];
  readonly owners: readonly Owner[];
  readonly ledgers: readonly string[];
  /** The database server and the relay before it, if there is one. */
  readonly database: { readonly server: PostgresServer; readonly relay: Relay } | undefined;
  readonly close: () => Promise<void>;
}

/** The folder of a world, and its parts. */
interface Plan {
  readonly dir: string;
  readonly random: Random;
  readonly env: Readonly<Record<string, string>>;
  readonly front: Relay;
  /** The parts that have to be ended, the last first. */
  readonly parts: AsyncDisposableStack;
}

/**
 * Starts two pods behind two routers. With PGlite each pod is a process; with PostgreSQL the first has two processes, and statements
 * go through a relay, too.
 */
export async function startWorld(dir: string, kind: "PGlite" | "PostgreSQL", random: Random): Promise<World> {
  for (const name of ["home", "tmp"]) mkdirSync(join(dir, name));
  await using parts = new AsyncDisposableStack();
  const front = parts.adopt(await startRelay(random), async (relay) => await relay.close());
  const plan: Plan = { dir, random, env: environmentIn(dir), front, parts };
  const isShared = kind === "PostgreSQL";
  const database = isShared ? await startDatabase(plan) : undefined;
  const pods = [await startPod(plan, 1, database, isShared ? 2 : 1), await startPod(plan, 2, database, 1)];
  const routers = await startRouters(plan, pods);
  const owners = pods.map(({ relay, stateDir }) => new Owner(() => `http://127.0.0.1:${relay.port}`, stateDir));
  const runners = await startRunners(plan, owners);
  const all = parts.move();
  return {
    victims: [...pods.flatMap(({ victims }) => victims), ...routers, ...runners.victims],
    relays: [front, ...pods.map(({ relay }) => relay)],
    owners,
    ledgers: runners.ledgers,
    database,
    close: async () => await all.disposeAsync(),
  };
}

async function startDatabase({ dir, random, parts }: Plan): Promise<NonNullable<World["database"]>> {
  const server = parts.adopt(await startPostgres(), async (one) => await one.remove());
  mkdirSync(join(dir, "postgres"));
  // The name by which clients know a server's socket.
  const path = join(dir, "postgres/.s.PGSQL.5432");
  const relay = parts.adopt(await startRelay(random, path), async (one) => await one.close());
  relay.targets = [join(server.dir, ".s.PGSQL.5432")];
  return { server, relay };
}

interface PodPart {
  readonly stateDir: string;
  readonly relay: Relay;
  readonly victims: readonly Victim[];
}

async function startPod(plan: Plan, number: number, database: World["database"], processes: number): Promise<PodPart> {
  const stateDir = join(plan.dir, `pod-${number}`);
  const relay = plan.parts.adopt(await startRelay(plan.random), async (one) => await one.close());
  const host = `host=${encodeURIComponent(join(plan.dir, "postgres"))}`;
  const own = database?.server.createDatabase().replace(/host=.*/, host);
  const flags = ["--state-dir", stateDir, "--url", `http://127.0.0.1:${plan.front.port}`, "--lease", LEASE];
  const more = ["--pod", String(number), "--silence", SILENCE, "--poll-hold", "5s"];
  const args = ["serve", ...flags, ...more, ...(own === undefined ? [] : ["--database", own])];
  const victims: Victim[] = [];
  for (let index = 1; index <= processes; index++) {
    const port = await freePort();
    const command = commandOf(plan, `pod-${number}-${index}`, "pod", [...args, "--port", String(port)]);
    victims.push(await started(plan, "pod", new Program({ ...command, ready: READY })));
    relay.targets = [...relay.targets, port];
  }
  return { stateDir, relay, victims };
}

function commandOf({ dir, env }: Plan, name: string, command: string, args: readonly string[]) {
  return { name, command: join(BIN, command), args, env, dir };
}

async function startRouters(plan: Plan, pods: readonly PodPart[]): Promise<Victim[]> {
  const config = join(plan.dir, "router.json");
  const list = pods.map(({ relay }, at) => ({ number: at + 1, url: `http://127.0.0.1:${relay.port}` }));
  writeFileSync(config, JSON.stringify({ pods: list }));
  const victims: Victim[] = [];
  for (const name of ["router-1", "router-2"]) {
    const port = await freePort();
    const command = commandOf(plan, name, "pod", ["router", "--config", config, "--port", String(port)]);
    victims.push(await started(plan, "router", new Program({ ...command, ready: READY })));
    plan.front.targets = [...plan.front.targets, port];
  }
  return victims;
}

async function startRunners(
  plan: Plan,
  owners: readonly Owner[],
): Promise<{ readonly victims: Victim[]; readonly ledgers: string[] }> {
  const url = `http://127.0.0.1:${plan.front.port}`;
  const victims: Victim[] = [];
  const ledgers: string[] = [];
  for (const [at, owner] of owners.entries()) {
    const token = await owner.createRunner({ run_untagged: true });
    for (let index = 1; index <= 2; index++) {
      const name = `small-runner-${at + 1}-${index}`;
      const ledger = join(plan.dir, `${name}.ledger`);
      const options = { url, token, systemId: `s_${name.replaceAll("-", "").slice(-12)}`, ledger, slots: SLOTS };
      const seed = plan.random.int(0, 2 ** 31);
      const args = ["--conditions=steps-source", WORKER, JSON.stringify({ ...options, seed })];
      const program = new Program({
        name,
        command: process.execPath,
        args,
        env: plan.env,
        dir: plan.dir,
        ready: READY,
      });
      victims.push(await started(plan, "small runner", program));
      ledgers.push(ledger);
    }
    const own = await owner.createRunner({ tags: [REAL_TAG], run_untagged: false });
    await register(plan, url, own, `our-${at + 1}`);
  }
  const own = new Program({ ...commandOf(plan, "our-runner", "runner-bridge", ["start"]), ready: READY });
  victims.push(await started(plan, "our runner", own));
  return { victims, ledgers };
}

async function started({ parts }: Plan, kind: Victim["kind"], program: Program): Promise<Victim> {
  parts.defer(async () => await program.kill());
  await program.start();
  return { kind, program, mayEndAt: 0 };
}

async function register({ dir, env }: Plan, url: string, token: string, name: string): Promise<void> {
  const args = ["register", "--url", url, "--token", token, "--name", name, "--concurrent", "2"];
  const { code, stderr } = await watchProcess(spawn(join(BIN, "runner-bridge"), args, { env, cwd: dir })).ended;
  if (code !== 0) throw new Error(`runner-bridge register: ${stderr}`);
}
