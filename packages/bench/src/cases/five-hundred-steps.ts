import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { absolute, forms, interleaveAll, node, peakMemory, ratioOf, type Row, time } from "../measure.ts";

const COUNT = 500;
const ROUNDS = 15;
const DASH_LOOP = `i=0; while [ $i -lt ${COUNT} ]; do "$@"; i=$((i+1)); done`;

/** The cost of a step over that of its process: beside loops of a shell, and beside bare spawns of Node. */
export async function fiveHundredSteps(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const bare = join(scratch, "bare.mjs");
  writeFileSync(
    bare,
    `import { spawn } from "node:child_process";
for (let i = 0; i < ${COUNT}; i++) {
  await new Promise((resolve) => {
    const child = spawn("/bin/true", [], { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH }, detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.once("close", resolve);
  });
}`,
  );
  const execs = { ...env, STEPS: listOf({ exec: { command: ["/bin/true"] } }) };
  const scripts = { ...env, STEPS: listOf({ script: "true" }) };
  const [spawns = [], loop = [], bashes = [], ...times] = await interleaveAll(ROUNDS, [
    () => time(node, [bare], { env }),
    () => time("dash", ["-c", DASH_LOOP, "dash", "/bin/true"], { env }),
    () => time("dash", ["-c", DASH_LOOP, "dash", "bash", "-e", "-c", "true"], { env }),
    ...forms.flatMap(({ command }) => [
      () => time(command, ["ci", "--quiet"], { env: execs }),
      () => time(command, ["ci", "--quiet"], { env: scripts }),
    ]),
  ]);
  const rows: Row[] = [];
  for (const [i, { name, command, isPacked }] of forms.entries()) {
    const [exec = [], script = []] = times.slice(2 * i);
    const memory = await peakMemory(command, ["ci", "--quiet"], { env: execs });
    rows.push(
      isPacked
        ? ratioOf(`${COUNT} exec steps : dash loop [${name}]`, { floor: loop, measured: exec, limit: 3 })
        : ratioOf(`${COUNT} exec steps : ${COUNT} bare spawns [${name}]`, {
            floor: spawns,
            measured: exec,
            limit: 1.4,
          }),
      ratioOf(`${COUNT} scripts : dash loop of bash -e [${name}]`, { floor: bashes, measured: script, limit: 2 }),
      absolute(`peak memory, ${COUNT} steps [${name}]`, { measured: memory, limit: isPacked ? 60 : 120, unit: "MB" }),
    );
  }
  return rows;
}

function listOf(step: object): string {
  return JSON.stringify(Array.from({ length: COUNT }, (_, i) => ({ name: `s${i}`, ...step })));
}
