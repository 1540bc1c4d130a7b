import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Contest, differenceRow, rowOf, timeSides } from "../gitlab-ci-local/compare.ts";
import { installPeer } from "../gitlab-ci-local/install-peer.ts";
import { manyJobs, makeSides } from "../gitlab-ci-local/project.ts";
import { atMost, command, interleaveAll, node, peakMemory, type Row, time } from "../measure.ts";

const ROUNDS = 9;
const LINES = 50;
const JOBS = 60;
const NOTHING_JOBS = 20;

/** The same files run by the closest other program: start, memory, output, a list of many jobs; then whole pipelines. */
export async function gitlabCiLocal(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const dir = join(scratch, "gitlab-ci-local");
  const contest: Contest = { peer: installPeer(join(dir, "peer")), env, rounds: ROUNDS };
  return [
    ...(await hello(contest, dir)),
    await output(contest, dir),
    await list(contest, dir),
    await pipeline(env, dir),
    await nothing(env, dir),
  ];
}

async function hello(contest: Contest, dir: string): Promise<Row[]> {
  const lines = (count: number): string => "    - echo hello world\n".repeat(count);
  const sides = await makeSides(join(dir, "hello"), {
    ".gitlab-ci.yml": `hello:\n  script:\n${lines(1)}lines:\n  script:\n${lines(LINES)}`,
  });
  const calls = { ours: ["local", "--job-name", "hello"], peers: ["hello"] };
  const { ours, peers } = await timeSides(contest, sides, calls);
  const { env } = contest;
  const cwd = sides.ours;
  const [one = [], many = []] = await interleaveAll(ROUNDS, [
    () => time(command, calls.ours, { env, cwd }),
    () => time(command, ["local", "--job-name", "lines"], { env, cwd }),
  ]);
  return [
    rowOf("hello-world, local : gitlab-ci-local", { floor: peers, measured: ours, limit: 0.3 }),
    atMost("peak memory, hello-world : gitlab-ci-local", {
      floor: await peakMemory(node, [contest.peer, ...calls.peers], { env, cwd: sides.peers }),
      measured: await peakMemory(command, calls.ours, { env, cwd }),
      limit: 0.6,
      unit: "MiB",
    }),
    differenceRow(`${LINES} script lines over hello-world`, { without: one, measured: many, limit: 25 }),
  ];
}

async function output(contest: Contest, dir: string): Promise<Row> {
  const sides = await makeSides(join(dir, "output"), { ".gitlab-ci.yml": "output:\n  script:\n    - seq 100000\n" });
  const { ours, peers } = await timeSides({ ...contest, rounds: 5 }, sides, {
    ours: ["local", "--job-name", "output"],
    peers: ["output"],
  });
  return rowOf("100,000 lines of output : gitlab-ci-local", { floor: peers, measured: ours, limit: 0.3 });
}

async function list(contest: Contest, dir: string): Promise<Row> {
  const sides = await makeSides(join(dir, "list"), manyJobs(500));
  const { ours, peers } = await timeSides({ ...contest, rounds: 5 }, sides, {
    ours: ["pipeline", "--list"],
    peers: ["--list"],
  });
  return rowOf("pipeline --list of 500 jobs : gitlab-ci-local --list", { floor: peers, measured: ours, limit: 0.3 });
}

async function pipeline(env: NodeJS.ProcessEnv, dir: string): Promise<Row> {
  const jobs = Array.from({ length: JOBS }, (_, i) => `job-${i}: {stage: "${i % 3}", script: [sleep 0.1]}\n`);
  const { ours: cwd } = await makeSides(join(dir, "pipeline"), {
    ".gitlab-ci.yml": `stages: ["0", "1", "2"]\n${jobs.join("")}`,
  });
  const script = join(dir, "sleep.sh");
  writeFileSync(script, "sleep 0.1\n");
  const [floor = [], measured = []] = await interleaveAll(3, [
    () => time("/bin/sh", ["-c", `seq ${JOBS} | xargs -P 2 -I{} bash "${script}"`], { env }),
    () => time(command, ["pipeline", "--jobs", "2", "--quiet"], { env, cwd }),
  ]);
  return rowOf(`pipeline of ${JOBS} jobs, two at once : xargs -P 2`, { floor, measured, limit: 1.3 });
}

async function nothing(env: NodeJS.ProcessEnv, dir: string): Promise<Row> {
  const jobs = Array.from({ length: NOTHING_JOBS + 1 }, (_, i) => `job-${i}: {script: [":"]}\n`);
  const { ours: cwd } = await makeSides(join(dir, "nothing"), { ".gitlab-ci.yml": jobs.join("") });
  const run = (...args: string[]) => time(command, ["pipeline", "--jobs", "1", "--quiet", ...args], { env, cwd });
  const [one = [], all = []] = await interleaveAll(ROUNDS, [() => run("--only", "job-0"), () => run()]);
  const numbers = { without: one, measured: all, count: NOTHING_JOBS, limit: 25 };
  return differenceRow("a job of a pipeline that does nothing", numbers);
}
