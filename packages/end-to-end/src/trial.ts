import { createRandom, type Random } from "./kit/random.ts";

/** The choices of one attempt. */
interface Attempt {
  /** Everything that the attempt chooses, it chooses with this: the same seed is the same attempt. */
  readonly random: Random;
  readonly seed: number;
  /** `npm test` makes smaller attempts than `pnpm faults` does. */
  readonly isSmall: boolean;
  /** How many jobs it makes, where the caller says so. */
  readonly size?: number | undefined;
}

/** The result of one attempt. */
export interface Outcome {
  /** The rule that did not hold, in one sentence; absent if all held. */
  readonly failure?: string | undefined;
  /** Numbers to add up over all attempts; of those whose name begins with `largest` the largest is kept. */
  readonly measured?: Readonly<Record<string, number>>;
}

/** Something that must hold however often it is attempted. */
export interface Trial {
  readonly name: string;
  /** The rule that must hold, as a sentence. */
  readonly holds: string;
  /** How many attempts `pnpm faults` makes. */
  readonly count: number;
  /** How many attempts `npm test` makes; 0 for what takes too long there, and is in `.ci/run` alone. */
  readonly smallCount: number;
  /** The programs that it needs and that are not on this machine. */
  readonly missing?: () => readonly string[];
  /** An attempt that has not ended by then has failed; 120 s unless given. */
  readonly limitMs?: number;
  readonly attempt: (attempt: Attempt) => Promise<Outcome>;
}

/** The result of a trial. */
export interface Report {
  readonly name: string;
  readonly holds: string;
  readonly count: number;
  readonly held: number;
  /** Each is found again with `--seed SEED --count 1`. */
  readonly failures: readonly { readonly seed: number; readonly reason: string }[];
  readonly measured: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export interface RunOptions {
  readonly count: number;
  /** The seed of the first attempt; each later one has the next number. */
  readonly seed: number;
  readonly isSmall: boolean;
  readonly size?: number | undefined;
  readonly onAttempt?: (index: number, outcome: Outcome) => void;
}

const LIMIT_MS = 120_000;

/** Makes the attempts of a trial, one after the other. */
export async function runTrial(trial: Trial, { count, seed, isSmall, size, onAttempt }: RunOptions): Promise<Report> {
  const failures: { seed: number; reason: string }[] = [];
  const measured: Record<string, number> = {};
  const start = performance.now();
  for (let index = 0; index < count; index++) {
    const outcome = await attemptOnce(trial, { seed: seed + index, isSmall, size });
    if (outcome.failure !== undefined) failures.push({ seed: seed + index, reason: outcome.failure });
    for (const [name, value] of Object.entries(outcome.measured ?? {})) {
      const before = measured[name] ?? 0;
      measured[name] = name.startsWith("largest") ? Math.max(before, value) : before + value;
    }
    onAttempt?.(index, outcome);
  }
  const seconds = (performance.now() - start) / 1000;
  const { name, holds } = trial;
  return { name, holds, count, held: count - failures.length, failures, measured, seconds };
}

async function attemptOnce(trial: Trial, choices: Omit<Attempt, "random">): Promise<Outcome> {
  const limitMs = trial.limitMs ?? LIMIT_MS;
  const late = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => late.resolve({ failure: `It had not ended after ${limitMs / 1000} s` }), limitMs);
  try {
    return await Promise.race([trial.attempt({ ...choices, random: createRandom(choices.seed) }), late.promise]);
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
