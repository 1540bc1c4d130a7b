import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { absolute, atMost, command, interleave, node, peakMemory, type Row, time } from "../measure.ts";

const COUNT = 500;

/** The cost of a step over a bare spawn. Both sides include the start of their process. */
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
  const STEPS = JSON.stringify(
    Array.from({ length: COUNT }, (_, i) => ({ name: `s${i}`, exec: { command: ["/bin/true"] } })),
  );
  const withSteps = { ...env, STEPS };
  const [floor = 0, measured = 0] = await interleave(7, [
    () => time(node, [bare], { env }),
    () => time(command, ["ci", "--quiet"], { env: withSteps }),
  ]);
  return [
    atMost(`${COUNT} exec steps : ${COUNT} bare spawns`, { floor, measured, limit: 1.4 }),
    absolute(`peak memory, ${COUNT} steps`, {
      measured: await peakMemory(["ci", "--quiet"], withSteps),
      limit: 120,
      unit: "MB",
    }),
  ];
}
