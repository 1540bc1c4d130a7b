import { join } from "node:path";
import { type Contest, rowOf, timeSides } from "../gitlab-ci-local/compare.ts";
import { installPeer } from "../gitlab-ci-local/install-peer.ts";
import { makeSides } from "../gitlab-ci-local/project.ts";
import {
  absolute,
  atMost,
  command,
  interleaveAll,
  median,
  peakMemory,
  peakMemoryOf,
  type Row,
  time,
} from "../measure.ts";

const ROUNDS = 9;
const LINES = 50;

/** The same files run by the closest other program: start, memory and output. */
export async function gitlabCiLocal(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const dir = join(scratch, "gitlab-ci-local");
  const contest: Contest = { peer: installPeer(join(dir, "peer")), env, rounds: ROUNDS };
  return [...(await hello(contest, dir)), await output(contest, dir)];
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
      floor: await peakMemoryOf(contest.peer, calls.peers, { env, cwd: sides.peers }),
      measured: await peakMemory(calls.ours, env, cwd),
      limit: 0.6,
      unit: "MiB",
    }),
    absolute(`${LINES} script lines over hello-world`, { measured: median(many) - median(one), limit: 25, unit: "ms" }),
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
