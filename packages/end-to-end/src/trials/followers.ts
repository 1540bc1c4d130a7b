import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Dial, followJob, startJob } from "@steps/client";
import type { Random } from "../kit/random.ts";
import { startService } from "../kit/service.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

const FOLLOWERS = 5;
const TOKEN = "t".repeat(32);

/** Writes lines of random lengths to both streams, in pieces of random sizes; the seed says which. */
const WRITER = `import { writeSync } from "node:fs";
let state = Number(process.argv[2]);
const next = (n) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
for (let line = 0; line < Number(process.argv[3]); line++) {
  writeSync(1 + next(2), line + " " + "abcdefghij".repeat(next(40)) + (next(3) === 0 ? "" : "\\n"));
  if (next(100) === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, next(10));
}
`;

interface Job {
  readonly id: string;
  readonly seed: number;
  readonly lines: number;
}

export const followers: Trial = {
  name: "followers",
  holds:
    "Many jobs at once, each followed by five from offsets of their own over connections that are cut: each follower has every byte.",
  count: 20,
  smallCount: 1,
  attempt: ({ random, isSmall }) =>
    withUser(async (user) => {
      const service = await startService(user);
      const writer = join(user.dir, "writer.mjs");
      writeFileSync(writer, WRITER);
      const jobs: Job[] = Array.from({ length: isSmall ? 3 : 10 }, (_, n) => ({
        id: `job-${n}`,
        seed: random.int(1, 1e9),
        lines: random.int(10, isSmall ? 500 : 3000),
      }));
      const problems = await Promise.all(
        jobs.map(async (job) => {
          const ciScript = `'${process.execPath}' '${writer}' ${job.seed} ${job.lines}`;
          await startJob(service.dial, { id: job.id, ciScript, workDir: user.work }, { token: TOKEN });
          const written = bytesOf(job);
          return Promise.all(Array.from({ length: FOLLOWERS }, () => follow(service.dial, { job, written, random })));
        }),
      );
      const found = problems.flat(2);
      await service.stop();
      return {
        failure: found[0],
        measured: {
          jobs: jobs.length,
          followers: jobs.length * FOLLOWERS,
          "followers that lacked a byte": found.length,
        },
      };
    }),
};

interface Written {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Computes a second time the bytes that the program writes. */
function bytesOf({ seed, lines }: Job): Written {
  let state = seed;
  const next = (n: number): number => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
  const texts = { stdout: "", stderr: "" };
  for (let line = 0; line < lines; line++) {
    const stream = next(2) === 0 ? "stdout" : "stderr";
    texts[stream] += `${line} ${"abcdefghij".repeat(next(40))}${next(3) === 0 ? "" : "\n"}`;
    if (next(100) === 0) next(10);
  }
  return { stdout: Buffer.from(texts.stdout), stderr: Buffer.from(texts.stderr) };
}

interface Followed {
  readonly job: Job;
  readonly written: Written;
  readonly random: Random;
}

/** Follows a job from random offsets over a connection that is cut twice, and gives what was not as it was written. */
async function follow(dial: Dial, { job, written, random }: Followed): Promise<string[]> {
  const resume = { stdout: random.int(0, written.stdout.length), stderr: random.int(0, written.stderr.length) };
  const places = [random.int(0, 100_000), random.int(0, 100_000)].toSorted((a, b) => a - b);
  const hashes = { stdout: createHash("sha256"), stderr: createHash("sha256") };
  let current: Duplex | undefined;
  let bytes = 0;
  const { exitCode } = await followJob(async (signal) => (current = await dial(signal)), job.id, {
    token: TOKEN,
    resume,
    onOutput: (stream, piece) => {
      hashes[stream].update(piece);
      bytes += piece.length;
      if (bytes < (places[0] ?? Number.POSITIVE_INFINITY)) return;
      places.shift();
      current?.destroy();
    },
  });
  const differs = (["stdout", "stderr"] as const).filter(
    (stream) =>
      hashes[stream].digest("hex") !==
      createHash("sha256").update(written[stream].subarray(resume[stream])).digest("hex"),
  );
  const where = `${job.id} from ${JSON.stringify(resume)}`;
  return [
    ...(exitCode === 0 ? [] : [`${where} ended with ${exitCode}`]),
    ...differs.map((stream) => `${where}: ${stream} is not what was written`),
  ];
}
