import { spawn, type SpawnOptions } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly floor: string;
  readonly measured: string;
  readonly ratio: number | undefined;
  readonly target: string;
  readonly isMet: boolean;
}

export const node: string = process.execPath;
const root: string = join(import.meta.dirname, "../../..");
export const command: string = join(root, "node_modules/.bin/step-runner");

/** The middle of a list of numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** Runs a program to its end and gives its time in milliseconds. */
export async function time(program: string, args: readonly string[], options: SpawnOptions = {}): Promise<number> {
  const start = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore"], ...options });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return performance.now() - start;
}

/** Medians of things run in turn, so that what the machine does besides falls on all of them. */
export async function interleave(rounds: number, runs: readonly (() => Promise<number>)[]): Promise<number[]> {
  return (await interleaveAll(rounds, runs)).map(median);
}

/** The same with all numbers of each. */
export async function interleaveAll(rounds: number, runs: readonly (() => Promise<number>)[]): Promise<number[][]> {
  const times: number[][] = runs.map(() => []);
  for (const run of runs) await run();
  for (let round = 0; round < rounds; round++) {
    for (const [i, run] of runs.entries()) times[i]?.push(await run());
  }
  return times;
}

/** Peak resident memory of our command in MiB, as the command itself saw it when it ended. */
export function peakMemory(args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): Promise<number> {
  return peakMemoryOf(join(root, "apps/step-runner/dist/main.cjs"), args, { env, cwd });
}

/** The same of a program for Node, without what it starts. */
export async function peakMemoryOf(
  main: string,
  args: readonly string[],
  options: Pick<SpawnOptions, "env" | "cwd">,
): Promise<number> {
  const report = join(tmpdir(), `steps-bench-${process.pid}`);
  const hook = `${report}.mjs`;
  writeFileSync(
    hook,
    `import { writeFileSync } from "node:fs"; process.on("exit", () => { if (process.argv[1] === ${JSON.stringify(main)}) writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)); });`,
  );
  try {
    await time(node, ["--import", pathToFileURL(hook).href, main, ...args], options);
    return Number(readFileSync(report, "utf8")) / 1024;
  } finally {
    rmSync(report, { force: true });
    rmSync(hook, { force: true });
  }
}

export function atMost(
  name: string,
  numbers: { readonly floor: number; readonly measured: number; readonly limit: number; readonly unit?: string },
): Row {
  const ratio = numbers.measured / numbers.floor;
  const unit = numbers.unit ?? "ms";
  return {
    name,
    floor: `${numbers.floor.toFixed(1)} ${unit}`,
    measured: `${numbers.measured.toFixed(1)} ${unit}`,
    ratio,
    target: `≤ ${numbers.limit}`,
    isMet: ratio <= numbers.limit,
  };
}

export function absolute(
  name: string,
  numbers: { readonly measured: number; readonly limit: number; readonly unit: string },
): Row {
  return {
    name,
    floor: "–",
    measured: `${numbers.measured.toFixed(2)} ${numbers.unit}`,
    ratio: undefined,
    target: `≤ ${numbers.limit} ${numbers.unit}`,
    isMet: numbers.measured <= numbers.limit,
  };
}

export function atLeast(
  name: string,
  numbers: { readonly floor: number; readonly measured: number; readonly limit: number; readonly unit: string },
): Row {
  const { floor, measured, limit, unit } = numbers;
  const ratio = measured / floor;
  return {
    name,
    floor: `${floor.toFixed(0)} ${unit}`,
    measured: `${measured.toFixed(0)} ${unit}`,
    ratio,
    target: `≥ ${limit}`,
    isMet: ratio >= limit,
  };
}
