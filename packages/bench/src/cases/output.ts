import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { command, interleave, type Row, time } from "../measure.ts";

const BYTES = 1024 * 1024 * 1024;

/** 1 GiB through a step to a file, against cat. */
export async function output(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const source = join(scratch, "source");
  const sink = join(scratch, "sink");
  writeLines(source);
  const to = async (program: string, args: readonly string[], runEnv: NodeJS.ProcessEnv) => {
    rmSync(sink, { force: true });
    const fd = openSync(sink, "w");
    try {
      return await time(program, args, { env: runEnv, stdio: ["ignore", fd, "ignore"] });
    } finally {
      closeSync(fd);
    }
  };
  const STEPS = JSON.stringify([{ name: "cat", exec: { command: ["cat", source] } }]);
  const [floor = 0, measured = 0] = await interleave(3, [
    () => to("/bin/cat", [source], env),
    () => to(command, ["ci", "--quiet"], { ...env, STEPS }),
  ]);
  if (statSync(sink).size !== BYTES) throw new Error(`The sink has ${statSync(sink).size} bytes`);
  rmSync(sink);
  rmSync(source);
  const share = floor / measured;
  const speed = (ms: number) => `${(BYTES / 1_048_576 / (ms / 1000)).toFixed(0)} MiB/s`;
  return [
    {
      name: "1 GiB of output : cat",
      floor: speed(floor),
      measured: speed(measured),
      ratio: share,
      target: "≥ 0.5",
      isMet: share >= 0.5,
    },
  ];
}

function writeLines(path: string): void {
  const line = Buffer.from(`${"x".repeat(99)}\n`);
  const block = Buffer.concat(Array.from({ length: 10_000 }, () => line));
  const fd = openSync(path, "w");
  for (let left = BYTES; left > 0; left -= block.length) writeSync(fd, block, 0, Math.min(left, block.length));
  closeSync(fd);
}
