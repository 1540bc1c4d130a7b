import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { followJob, listJobs, startJob } from "@steps/client";
import type { Dial } from "@steps/client";
import { readIfThere } from "../kit/files.ts";
import { whatIsLeft } from "../kit/processes.ts";
import type { Random } from "../kit/random.ts";
import { startService } from "../kit/service.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

const TOKEN = "t".repeat(32);

interface Sent {
  readonly id: string;
  readonly lines: number;
  isAcknowledged: boolean;
  /** Why the service did not take the job, or did not let it be followed. */
  refusal?: string;
  /** The bytes that a follower had received when the service was killed. */
  readonly seen: Buffer[];
}

export const killService: Trial = {
  name: "kill-service",
  holds:
    "After kill -9 of the service the next one knows every acknowledged job, tells its end truthfully, has each byte that was read of it, and runs none again.",
  count: 40,
  smallCount: 2,
  attempt: ({ random }) =>
    withUser(async (user) => {
      const service = await startService(user);
      const jobs: Sent[] = Array.from({ length: random.int(1, 6) }, () => ({
        id: randomUUID(),
        lines: random.int(1, 40),
        isAcknowledged: false,
        seen: [],
      }));
      const stop = new AbortController();
      const running = jobs.map((job) => startAndRead(service.dial, job, user.work, stop.signal));
      const over = Promise.all(running);
      await moment(random, jobs, over);
      // Failures before the kill count too: a service that refused every job would lose none.
      const refusals = jobs.flatMap(({ refusal }) => (refusal === undefined ? [] : [`Run failed: ${refusal}`]));
      await service.kill();
      stop.abort();
      await over;
      const next = await startService(user);
      const left = await whatIsLeft(user.dir, 0).then((pids) => pids.filter((pid) => pid !== next.running.pid));
      const known = await listJobs(next.dial, { token: TOKEN });
      const problems = await Promise.all(
        jobs.map(async (job) =>
          problemsOf(job, { dial: next.dial, work: user.work, isKnown: known.some(({ id }) => id === job.id) }),
        ),
      );
      await next.stop();
      const failures = [...refusals, ...problems.flat()];
      return {
        failure: failures.length === 0 ? undefined : failures.join("; "),
        measured: {
          kills: 1,
          "acknowledged jobs": jobs.filter(({ isAcknowledged }) => isAcknowledged).length,
          "bytes read before": jobs.reduce((sum, { seen }) => sum + Buffer.concat(seen).length, 0),
          "processes that the next service had to end, or its own": left.length,
        },
      };
    }),
};

async function startAndRead(dial: Dial, job: Sent, workDir: string, stop: AbortSignal): Promise<void> {
  const ciScript = `echo run >>${job.id}.runs; i=0; while [ $i -lt ${job.lines} ]; do i=$((i+1)); echo "line $i of ${job.id}"; sleep 0.02; done; echo end >${job.id}.ended`;
  const options = { token: TOKEN, connectWindowMs: 10_000, reconnectWindowMs: 1, hurry: stop };
  try {
    await startJob(dial, { id: job.id, ciScript, workDir }, options);
    job.isAcknowledged = true;
    await followJob(dial, job.id, { ...options, onOutput: keepIn(job.seen) });
  } catch (error) {
    // After the kill the connection is lost, and what was got by then is what counts.
    job.refusal = String(error);
  }
}

/** Keeps what the job itself wrote; the service says on the other stream what became of it. */
function keepIn(parts: Buffer[]): (stream: "stdout" | "stderr", bytes: Uint8Array) => void {
  return (stream, bytes) => {
    if (stream === "stdout") parts.push(Buffer.from(bytes));
  };
}

/** Waits for a moment in the first half second, or shortly after some output of one of the jobs was read. */
async function moment(random: Random, jobs: readonly Sent[], over: Promise<unknown>): Promise<void> {
  if (random.next() < 0.3) return sleep(random.int(0, 500));
  const { lines, seen } = random.pick(jobs);
  const pieces = random.int(1, lines);
  const end = new AbortController();
  void over.then(() => end.abort());
  while (!end.signal.aborted && seen.length < pieces) await sleep(1);
  await sleep(random.int(0, 30));
}

interface Restarted {
  readonly dial: Dial;
  readonly work: string;
  readonly isKnown: boolean;
}

async function problemsOf(job: Sent, { dial, work, isKnown }: Restarted): Promise<string[]> {
  const runs = readIfThere(join(work, `${job.id}.runs`)) ?? "";
  const hasEnded = readIfThere(join(work, `${job.id}.ended`)) !== undefined;
  if (!isKnown) return job.isAcknowledged ? [`acknowledged job ${job.id} is not known any more`] : [];
  const parts: Buffer[] = [];
  const { exitCode, job: told } = await followJob(dial, job.id, {
    token: TOKEN,
    onOutput: keepIn(parts),
  });
  const stored = Buffer.concat(parts);
  const seen = Buffer.concat(job.seen);
  const all = Buffer.from(Array.from({ length: job.lines }, (_, line) => `line ${line + 1} of ${job.id}\n`).join(""));
  return [
    ...(runs.length <= "run\n".length ? [] : [`job ${job.id} ran more than once`]),
    ...(stored.subarray(0, seen.length).equals(seen)
      ? []
      : [`job ${job.id}: ${seen.length} bytes were read, ${stored.length} are stored`]),
    ...(all.subarray(0, stored.length).equals(stored) ? [] : [`job ${job.id} has output that it did not write`]),
    ...(exitCode === 0 && !hasEnded ? [`job ${job.id} is told as successful, and did not end`] : []),
    ...(exitCode === 0 && !stored.equals(all) ? [`job ${job.id} is told as successful without all of its output`] : []),
    ...(exitCode === 0 || told.error?.code === "INTERRUPTED" ? [] : [`job ${job.id} is told as ${told.error?.code}`]),
  ];
}
