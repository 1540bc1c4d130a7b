import type { SpawnOptions } from "node:child_process";
import { command, interleaveAll, median, node, type Row, time } from "../measure.ts";
import type { Sides } from "./project.ts";

/** Both programs, and how often each is run. */
export interface Contest {
  /** The peer's program for Node. */
  readonly peer: string;
  readonly env: NodeJS.ProcessEnv;
  readonly rounds: number;
}

/** The arguments for each side. */
export interface Calls {
  readonly ours: readonly string[];
  readonly peers: readonly string[];
}

/** Runs both sides in turn and gives the times of each in milliseconds. */
export async function timeSides(
  { peer, env, rounds }: Contest,
  { ours, peers }: Sides,
  calls: Calls,
): Promise<{ readonly ours: number[]; readonly peers: number[] }> {
  const options = (cwd: string): SpawnOptions => ({ env, cwd });
  const [own = [], others = []] = await interleaveAll(rounds, [
    () => time(command, calls.ours, options(ours)),
    () => time(node, [peer, ...calls.peers], options(peers)),
  ]);
  return { ours: own, peers: others };
}

/** A row of medians, with the least of each side beside them. */
export function rowOf(
  name: string,
  { floor, measured, limit }: { readonly floor: number[]; readonly measured: number[]; readonly limit: number },
): Row {
  const ratio = median(measured) / median(floor);
  return { name, floor: shown(floor), measured: shown(measured), ratio, target: `≤ ${limit}`, isMet: ratio <= limit };
}

/** A row of the difference of two medians, divided by a count, with that of the least times beside it. */
export function differenceRow(name: string, { without, measured, count = 1, limit }: Difference): Row {
  const cost = (of: (times: readonly number[]) => number): number => (of(measured) - of(without)) / count;
  const least = cost((times) => Math.min(...times));
  const text = `${cost(median).toFixed(1)} ms (min ${least.toFixed(1)})`;
  return { name, floor: "–", measured: text, ratio: undefined, target: `≤ ${limit} ms`, isMet: cost(median) <= limit };
}

interface Difference {
  readonly without: readonly number[];
  readonly measured: readonly number[];
  /** How often it is in the measured times. Default: once. */
  readonly count?: number;
  /** In milliseconds. */
  readonly limit: number;
}

function shown(times: readonly number[]): string {
  return `${median(times).toFixed(0)} ms (min ${Math.min(...times).toFixed(0)})`;
}
