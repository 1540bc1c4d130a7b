import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { forms, interleaveAll, type Row, shareOf, time } from "../measure.ts";

const MIB = 1024 * 1024;
const BYTES = 256 * MIB;
const ROUNDS = 15;

/**
 * The output of a step to a file: against `cat`, which copies within the kernel, and against the SHA-256 of the same bytes, which each
 * trace holds: no runner can be faster than that.
 */
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
  const [floor = [], digest = [], ...times] = await interleaveAll(ROUNDS, [
    () => to("/bin/cat", [source], env),
    () => time("openssl", ["dgst", "-sha256", source], { env }),
    ...forms.map(
      ({ command }) =>
        () =>
          to(command, ["ci", "--quiet"], { ...env, STEPS }),
    ),
  ]);
  if (statSync(sink).size !== BYTES) throw new Error(`The sink has ${statSync(sink).size} bytes`);
  rmSync(sink);
  rmSync(source);
  const numbers = { floor, bytes: BYTES, limit: 0.5 };
  return [
    ...forms.map(({ name }, i) =>
      shareOf(`${BYTES / MIB} MiB of output : cat [${name}]`, { ...numbers, measured: times[i] ?? [] }),
    ),
    ...forms.map(({ name }, i) =>
      shareOf(`the same : SHA-256 by openssl [${name}]`, { ...numbers, floor: digest, measured: times[i] ?? [] }),
    ),
  ];
}

function writeLines(path: string): void {
  const line = Buffer.from(`${"x".repeat(99)}\n`);
  const block = Buffer.concat(Array.from({ length: 10_000 }, () => line));
  const fd = openSync(path, "w");
  for (let left = BYTES; left > 0; left -= block.length) writeSync(fd, block, 0, Math.min(left, block.length));
  closeSync(fd);
}
