import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { absolute, command, interleaveAll, median, peakMemory, ratioOf, type Row, time } from "../measure.ts";

const [FEW, SOME, MANY] = [10, 1000, 10_000];
const AT_ONCE = 2000;
/** Takes some milliseconds of a processor. */
const WORK = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done";
const ROUNDS = 15;
/** A run of thousands of steps averages by itself. */
const LONG_ROUNDS = 3;

/** Lists of thousands of steps: the cost of each, their start, and many at the same time. */
export async function large(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  return [...(await flat(env, scratch)), await start(env, scratch), await parallel(env, scratch)];
}

function write(scratch: string, name: string, steps: unknown): string {
  const path = join(scratch, `${name}.yml`);
  writeFileSync(path, JSON.stringify(steps));
  return path;
}

function listOf(count: number): object[] {
  return Array.from({ length: count }, (_, i) => ({ name: `s${i}`, exec: { command: ["/bin/true"] } }));
}

async function flat(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const counts = [FEW, SOME, MANY];
  const args = counts.map((count) => ["run", "--quiet", write(scratch, `list-${count}`, listOf(count))]);
  const [few = [], some = [], many = []] = await interleaveAll(
    LONG_ROUNDS,
    args.map((list) => () => time(command, list, { env })),
  );
  const own = median(few);
  const each = (times: readonly number[], count: number): number[] => times.map((ms) => (ms - own) / (count - FEW));
  const [, memoryOfSome = 0, memoryOfMany = 0] = await peaks(args, env);
  return [
    ratioOf(`a step of ${MANY} : a step of ${SOME}`, {
      floor: each(some, SOME),
      measured: each(many, MANY),
      limit: 1.1,
    }),
    absolute(`memory for each step from ${SOME} to ${MANY}`, {
      measured: ((memoryOfMany - memoryOfSome) * 1024) / (MANY - SOME),
      limit: 4,
      unit: "KiB",
    }),
  ];
}

async function peaks(args: readonly (readonly string[])[], env: NodeJS.ProcessEnv): Promise<number[]> {
  const found: number[] = [];
  for (const list of args) found.push(await peakMemory(command, list, { env }));
  return found;
}

/** From the start of the command to the first output of the first step. */
async function start(env: NodeJS.ProcessEnv, scratch: string): Promise<Row> {
  const steps = [{ name: "first", exec: { command: ["echo", "begun"] } }, ...listOf(MANY)];
  const path = write(scratch, "long", steps);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    const child = spawn(command, ["run", "--quiet", path], { env, stdio: ["ignore", "pipe", "ignore"] });
    await once(child.stdout, "data");
    times.push(performance.now() - begin);
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  return absolute(`start of a list of ${MANY} steps`, { measured: median(times), limit: 500, unit: "ms" });
}

/** Against the same processes, as many at a time as there are processors. */
async function parallel(env: NodeJS.ProcessEnv, scratch: string): Promise<Row> {
  const step = { exec: { command: ["dash", "-c", WORK] } };
  const steps = Array.from({ length: AT_ONCE }, (_, i) => ({ name: `s${i}`, ...step }));
  const path = write(scratch, "parallel", [{ name: "all", parallel: steps }]);
  const xargs = `seq ${AT_ONCE} | xargs -P ${cpus().length} -I {} dash -c '${WORK}'`;
  const [floor = [], measured = []] = await interleaveAll(LONG_ROUNDS, [
    () => time("sh", ["-c", xargs], { env }),
    () => time(command, ["run", "--quiet", path], { env }),
  ]);
  return ratioOf(`${AT_ONCE} steps at once : their processes on ${cpus().length} processors`, {
    floor,
    measured,
    limit: 2,
  });
}
