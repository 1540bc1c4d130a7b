import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeTrace, verifyTrace } from "@steps/trace";
import { GRACE_MS, whatIsLeft } from "../kit/processes.ts";
import type { Random } from "../kit/random.ts";
import { type User, withUser } from "../kit/user.ts";
import { liesOf, type WitnessedJob, witnessedJob } from "../kit/witnessed-job.ts";
import type { Trial } from "../trial.ts";

/** On a quiet machine a first step begins within this time. */
const START_MS = 250;

export const killJob: Trial = {
  name: "kill-job",
  holds: "After kill -9 of `ci` at any moment the journal tells what ran, nothing else, and loses nothing.",
  count: 320,
  smallCount: 6,
  attempt: ({ random }) =>
    withUser(async (user) => {
      const job = witnessedJob(random);
      const runner = user.start(["ci", "--quiet"], { env: { STEPS: job.steps } });
      await moment(random, { user, job, isOver: runner.ended });
      runner.child.kill("SIGKILL");
      const { code } = await runner.ended;
      const began = job.leaves.filter(({ name }) => existsSync(join(user.work, `${name}.began`))).length;
      const { left, lies } = await judge(user, job, code !== null);
      const places = { "before the first step": 0, "in the job": 0, "after its end": 0 };
      places[code !== null ? "after its end" : began === 0 ? "before the first step" : "in the job"]++;
      return {
        failure: lies.length === 0 ? undefined : lies.join("; "),
        measured: { ...places, "with processes left in the end": left },
      };
    }),
};

interface Watched {
  readonly user: User;
  readonly job: WitnessedJob;
  readonly isOver: Promise<unknown>;
}

/** Waits for a moment in the start of the command, or shortly after one of the steps began or ended. */
async function moment(random: Random, { user, job, isOver }: Watched): Promise<void> {
  if (random.next() < 0.2) return sleep(random.int(0, START_MS));
  const { name } = random.pick(job.leaves);
  const witness = join(user.work, `${name}.${random.pick(["began", "ended"])}`);
  const later = random.int(0, 40);
  const end = new AbortController();
  void isOver.then(() => end.abort());
  while (!end.signal.aborted && !existsSync(witness)) await sleep(1);
  await sleep(later);
}

async function judge(user: User, job: WitnessedJob, hasEnded: boolean): Promise<{ left: number; lies: string[] }> {
  const runs = join(user.state, "runs");
  const journals = (existsSync(runs) ? readdirSync(runs) : []).filter((run) =>
    existsSync(join(runs, run, "trace.jsonl")),
  );
  const [journal] = journals;
  if (journal === undefined) {
    const ran = job.leaves.filter(({ name }) => existsSync(join(user.work, `${name}.began`)));
    return { left: 0, lies: ran.map(({ name }) => `${name} ran, and there is no journal`) };
  }
  const first = join(user.dir, "first.json");
  const again = join(user.dir, "again.json");
  // A run that ended needs no recovery; its journal can be read all the same. It may have ended just before the kill.
  const path = join(runs, journal);
  const recover = (named: readonly string[]) => user.run(["trace", "recover", ...named, "--output-file", first]);
  let recovered = await recover(hasEnded ? [path] : []);
  if (recovered.stderr.includes("every run ended")) recovered = await recover([path]);
  if (recovered.code !== 0) return { left: 0, lies: [`trace recover: ${recovered.stderr}`] };
  await user.run(["trace", "recover", path, "--output-file", again]);
  const text = readFileSync(first, "utf8");
  const trace = await decodeTrace(text);
  const lies = [...verifyTrace(trace).map(String), ...liesOf(trace, job, user.work)];
  const left = await whatIsLeft(user.dir, GRACE_MS);
  if (existsSync(again) && readFileSync(again, "utf8") !== text) lies.push("A second recovery tells something else");
  if (left.length > 0) lies.push(`${left.length} processes are left after the recovery and the reaper`);
  return { left: left.length > 0 ? 1 : 0, lies };
}
