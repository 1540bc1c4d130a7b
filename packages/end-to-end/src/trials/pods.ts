import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { podOfId } from "@steps/pod-tokens";
import { withTempDir } from "@steps/testkit";
import { hasPostgres } from "@steps/testkit/postgres-server";
import { killAll, processesOf } from "../kit/processes.ts";
import type { Random } from "../kit/random.ts";
import { Chaos } from "../pods/chaos.ts";
import { judge, REAL_SCRIPT, REAL_TAG } from "../pods/judge.ts";
import { readLedgers } from "../pods/ledger.ts";
import type { OwnedJob, Owner } from "../pods/owner.ts";
import { startWorld, type World } from "../pods/world.ts";
import type { Outcome, Trial } from "../trial.ts";

const PIPELINE_JOBS = 25;
const REAL_EVERY = 100;
const LIMIT_MS = 5_400_000;
const PROJECTS = ["a/one", "a/two", "b/three"];

const HOLDS =
  "Whatever is killed and cut, no job is lost, none is accepted twice, and traces and artifacts are what their runners sent";

export const pods: Trial = {
  name: "pods",
  holds: `${HOLDS}: pods with PGlite.`,
  count: 1,
  smallCount: 0,
  limitMs: LIMIT_MS,
  attempt: async ({ random, size }) => await attempt("PGlite", random, size ?? 2000),
};

export const podsPostgres: Trial = {
  name: "pods-postgres",
  holds: `${HOLDS}: pods with PostgreSQL, whose connections are cut, too.`,
  count: 1,
  smallCount: 0,
  limitMs: LIMIT_MS,
  missing: () => (hasPostgres ? [] : ["PostgreSQL"]),
  attempt: async ({ random, size }) => await attempt("PostgreSQL", random, size ?? 2000),
};

async function attempt(kind: "PGlite" | "PostgreSQL", random: Random, count: number): Promise<Outcome> {
  return await withTempDir(async (dir) => {
    try {
      const world = await startWorld(dir, kind, random);
      try {
        const outcome = await rage(world, random, count);
        return outcome.failure === undefined ? outcome : { ...outcome, failure: outcome.failure + notesOf(dir) };
      } finally {
        await world.close();
      }
    } catch (error) {
      return { failure: String(error instanceof Error ? error.stack : error) + notesOf(dir) };
    } finally {
      killAll(processesOf(dir));
    }
  }, "steps-chaos-");
}

/** Copies what the programs of a world said, and what its runners noted, to where they outlive the attempt. Gives the end of its failure. */
function notesOf(dir: string): string {
  const kept = mkdtempSync(join(tmpdir(), "steps-chaos-notes-"));
  for (const name of readdirSync(dir)) if (/\.(?:log|ledger)$/.test(name)) cpSync(join(dir, name), join(kept, name));
  return `; all that was written is in ${kept}`;
}

async function rage(world: World, random: Random, count: number): Promise<Outcome> {
  const began = performance.now();
  const chaos = new Chaos(world, random);
  try {
    await runAll(world, { random, count, isOver: () => chaos.isBroken });
  } finally {
    await chaos.end();
  }
  const seconds = (performance.now() - began) / 1000;
  return await verdict(world, chaos, { count, seconds });
}

interface Run {
  readonly random: Random;
  readonly count: number;
  readonly isOver: () => boolean;
}

/** Creates the jobs, and looks after them until all have ended. */
async function runAll({ owners }: World, { random, count, isOver }: Run): Promise<void> {
  for (let made = 0, index = 0; made < count; made += PIPELINE_JOBS, index++)
    await createPipeline(owners[index % 2] as Owner, index, Math.min(PIPELINE_JOBS, count - made));
  while (!isOver()) {
    const jobs = (await Promise.all(owners.map(async (owner) => await owner.jobs()))).flat();
    const open = jobs.filter(({ state, retried }) => !["success", "canceled"].includes(state) && !retried);
    if (open.length === 0) return;
    await lookAfter(owners, open, random);
    await sleep(3000);
  }
}

async function createPipeline(owner: Owner, index: number, count: number): Promise<void> {
  const jobs = Array.from({ length: count }, (_, at) => {
    const isReal = (index * PIPELINE_JOBS + at) % REAL_EVERY === 0;
    return {
      name: `job ${index}.${at}`,
      stage: "test",
      tags: isReal ? [REAL_TAG] : [],
      payload: {
        variables: [{ key: "GIT_STRATEGY", value: "none", public: true, masked: false, file: false, raw: false }],
        steps: [{ name: "script", script: [isReal ? REAL_SCRIPT : "true"], timeout: 3600, when: "on_success" }],
      },
      retry: { max: 1, when: ["stuck_or_timeout_failure"] },
    };
  });
  const project = PROJECTS[index % PROJECTS.length] as string;
  await owner.createPipeline({ project, name: `pipeline ${index}`, stages: ["test"], jobs });
}

/** Acts as people do, who cancel a job now and then, and have failed ones run again. */
async function lookAfter(owners: readonly Owner[], open: readonly OwnedJob[], random: Random): Promise<void> {
  for (const job of open) {
    const owner = owners[podOfId(job.id) - 1] as Owner;
    if (job.state === "failed") await owner.act(job.id, "retry");
    else if (random.next() < 0.002) await owner.act(job.id, "cancel");
  }
}

async function verdict(
  world: World,
  { tally }: Chaos,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<Outcome> {
  const ledger = readLedgers(world.ledgers);
  const wrong: string[] = [];
  const all: OwnedJob[] = [];
  for (const owner of world.owners) {
    const jobs = await owner.jobs();
    all.push(...jobs);
    wrong.push(...(await judge(owner, jobs, ledger)));
  }
  const names = new Set(all.map(({ name }) => name));
  if (names.size !== count) wrong.push(`${count} jobs were created, ${names.size} are there`);
  for (const { program } of world.victims)
    for (const crash of program.crashes) wrong.push(`${program.name} ended by itself: ${crash}`);
  const superseded = ledger.filter(({ saw }) => saw === "refused").length;
  return {
    failure: wrong.length === 0 ? undefined : `${wrong.length} things: ${wrong.slice(0, 10).join("; ")}`,
    measured: {
      jobs: names.size,
      attempts: ledger.filter(({ saw }) => saw === "given").length,
      ...tally,
      "attempts that were stopped": superseded,
      "jobs tried again": all.length - names.size,
      canceled: all.filter(({ state }) => state === "canceled").length,
      "MiB of traces": all.reduce((sum, { trace_size: size }) => sum + size, 0) / 2 ** 20,
      artifacts: all.reduce((sum, { artifacts }) => sum + artifacts.length, 0),
      "seconds until all had ended": seconds,
    },
  };
}
