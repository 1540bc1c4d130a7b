import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../kit/random.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

/** Writes lines to both streams, each with one write of less than the 4096 bytes that a pipe takes whole. */
const WRITER = `import { writeSync } from "node:fs";
let state = Number(process.argv[2]);
const next = (n) => ((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8) % n;
const ends = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz0123456789";
for (let line = 0; line < Number(process.argv[3]); line++) {
  const stream = 1 + next(2);
  const text = "x".repeat(next(8) === 0 ? next(4000) : next(120)) + ends[next(ends.length)];
  writeSync(stream, "oe"[stream - 1] + line + " " + text + "\\n");
  if (next(50) === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, next(8));
}
`;

/** Secrets one of whose forms a line's last characters might begin: the masker has to wait for what comes. */
function secretsOf(random: Random): Record<string, string> {
  const secrets = Array.from({ length: 20 }, (_, n) => [`CI_S${n}`, random.bytes(36).toString("base64")] as const);
  return { ...Object.fromEntries(secrets), CI_LINES: `\n${random.bytes(12).toString("hex")}\n` };
}

export const wholeLines: Trial = {
  name: "whole-lines",
  holds:
    "A line that a process wrote whole is whole in the log and on a terminal that has both streams, in the order of its stream.",
  count: 30,
  smallCount: 2,
  attempt: ({ random, isSmall }) =>
    withUser(async (user) => {
      writeFileSync(join(user.dir, "writer.mjs"), WRITER);
      const count = isSmall ? 500 : 5000;
      const script = `'${process.execPath}' '${join(user.dir, "writer.mjs")}' ${random.int(1, 1e9)} ${count}`;
      const terminal = join(user.dir, "terminal");
      const output = openSync(terminal, "a");
      const trace = join(user.dir, "trace.json");
      const secrets = secretsOf(random);
      const env = { STEPS: JSON.stringify([{ name: "a", script }]), ...secrets };
      const masks = Object.keys(secrets).flatMap((name) => ["--mask-variable", name]);
      const { code } = await user.run(["ci", "--quiet", "--output-file", trace, ...masks], { env, output });
      closeSync(output);
      const log = join(user.state, "runs", runOf(user.state), "logs/0.log");
      const problems = [
        ...(code === 0 ? [] : [`exit code ${code}`]),
        ...tornLines("the log", readFileSync(log, "utf8"), count),
        ...tornLines("the terminal", readFileSync(terminal, "utf8"), count),
      ];
      return { failure: problems[0], measured: { lines: count, "torn or lost": problems.length } };
    }),
};

function runOf(state: string): string {
  return readdirSync(join(state, "runs"))[0] as string;
}

function tornLines(place: string, text: string, count: number): string[] {
  const lines = text
    .split("\n")
    .slice(0, -1)
    .filter((line) => !line.startsWith("Trace: "));
  const torn = lines
    .filter((line) => !/^[oe]\d+ x*[A-Za-z0-9]$/.test(line))
    .map((line) => `in ${place} a line is torn: ${line.slice(0, 200)}`);
  if (torn.length > 0) return torn;
  const isInOrder = ["o", "e"].every((stream) => {
    const numbers = lines.filter((line) => line.startsWith(stream)).map((line) => Number(/\d+/.exec(line)?.[0]));
    return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] as number));
  });
  return [
    ...(lines.length === count ? [] : [`${place} has ${lines.length} of ${count} lines`]),
    ...(isInOrder ? [] : [`the lines of one stream are out of order in ${place}`]),
  ];
}
