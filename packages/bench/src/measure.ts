import { spawn, type SpawnOptions } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** One line of the table. */
export interface Row {
  readonly name: string;
  readonly floor: string;
  readonly measured: string;
  /** The ratio of the medians, where there are several numbers. */
  readonly ratio: number | undefined;
  /** The ratio of the best numbers, which what the machine does besides has touched least. Absent for a single number. */
  readonly best?: number;
  readonly target: string;
  readonly isMet: boolean;
}

export const node: string = process.execPath;
const root: string = join(import.meta.dirname, "../../..");
export const bin: string = join(root, "node_modules/.bin");
export const command: string = join(bin, "step-runner");

/** A form of the command, with the file that starts it. */
export interface Form {
  readonly name: string;
  readonly command: string;
  readonly isPacked: boolean;
}

/** The forms that the set-up has made: the executable where there is one, and that for Node. */
export const forms: readonly Form[] = [
  { name: "executable", command, isPacked: true },
  { name: "Node", command: join(bin, "step-runner-node"), isPacked: false },
].filter(({ isPacked }) => !isPacked || dirname(realpathSync(command)) !== bin);

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

/** Peak resident memory of a program in MiB, without what it starts: the highest that the system showed while it ran. */
export async function peakMemory(
  program: string,
  args: readonly string[],
  options: Pick<SpawnOptions, "env" | "cwd">,
): Promise<number> {
  const child = spawn(program, args, { stdio: "ignore", ...options });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  let kib = 0;
  const look = (): void => {
    const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(statusOf(child.pid)) ?? [];
    if (peak !== undefined) kib = Number(peak);
  };
  const timer = setInterval(look, 1);
  const code = await ended;
  clearInterval(timer);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
  return kib / 1024;
}

function statusOf(pid: number | undefined): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    // It has ended.
    return "";
  }
}

/** A ratio of two things that were run in turn, by their medians; the minima are shown beside them. */
export function ratioOf(
  name: string,
  numbers: { readonly floor: readonly number[]; readonly measured: readonly number[]; readonly limit: number },
): Row {
  const { floor, measured, limit } = numbers;
  const ratio = median(measured) / median(floor);
  const text = (times: readonly number[]): string =>
    `${median(times).toFixed(1)} ms (${Math.min(...times).toFixed(1)})`;
  return {
    name,
    floor: text(floor),
    measured: text(measured),
    ratio,
    best: Math.min(...measured) / Math.min(...floor),
    target: `≤ ${limit}`,
    isMet: ratio <= limit,
  };
}

/** How fast bytes go through, of two things that were run in turn: by the medians of their times in milliseconds, and by the best ones. */
export function shareOf(
  name: string,
  numbers: {
    readonly floor: readonly number[];
    readonly measured: readonly number[];
    readonly bytes: number;
    readonly limit: number;
  },
): Row {
  const { floor, measured, bytes, limit } = numbers;
  const ratio = median(floor) / median(measured);
  const speed = (ms: number): string => (bytes / 1_048_576 / (ms / 1000)).toFixed(0);
  const text = (times: readonly number[]): string => `${speed(median(times))} MiB/s (${speed(Math.min(...times))})`;
  return {
    name,
    floor: text(floor),
    measured: text(measured),
    ratio,
    best: Math.min(...floor) / Math.min(...measured),
    target: `≥ ${limit}`,
    isMet: ratio >= limit,
  };
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
