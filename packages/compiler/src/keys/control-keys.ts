import { type DescribedTable, describeKeys, type Key } from "@steps/source/keys";
import { DURATION, FLAG, ref, SOME_TEXT } from "./shapes.ts";

export const MAX_RETRIES = 100;
export const MAX_BACKOFF_MS = 3_600_000;

/** Spellings of `continue_on_error`. */
export const CONTINUE_KEYS: readonly string[] = ["continue_on_error", "continue_on_err", "allow_failure"];

/** GitLab's words for what `if:` says with a function. */
export const WHEN: Readonly<Record<string, string>> = {
  on_success: "success()",
  on_failure: "failure()",
  always: "always()",
};

const COUNT: Key = {
  about: `How often the step is tried again, at most ${MAX_RETRIES} times.`,
  shape: { type: "integer", minimum: 0, maximum: MAX_RETRIES },
};

export const RETRY_KEYS: DescribedTable = describeKeys({
  what: "retry",
  keys: {
    max: COUNT,
    backoff: { about: "The time before the second attempt; it doubles before each one after that.", shape: DURATION },
  },
  required: ["max"],
});

const CONTINUE: Key = { about: "`true`: the list goes on when the step fails.", shape: FLAG };

const NO_LOOP =
  "Steps are not repeated for values: write an item for each of them, or a loop in the shell of one script:. " +
  "A whole job is repeated with parallel: matrix: in .gitlab-ci.yml.";
const NO_POLLING = "retry: tries a step again until it succeeds: retry: {max: 10, backoff: 1s}.";

/** Hints for the words by which others repeat a step (ADR 47). */
export const LOOP_HINTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["for_each", "foreach", "for", "each", "loop", "matrix", "repeat", "strategy", "with_items"].map(
      (key) => [key, NO_LOOP] as const,
    ),
  ),
  until: NO_POLLING,
  while: NO_POLLING,
};

/** Keys of an item that say whether, how long and how often its step runs. */
export const CONTROL_KEYS: Readonly<Record<string, Key>> = {
  if: {
    about:
      "An expression, bare or in `${{ }}`. The step runs where it is true; without `success()`, `failure()`, `always()` or `cancelled()` in it, the steps before have to have succeeded, too.",
    shape: SOME_TEXT,
  },
  when: { about: "When the step runs, as a word.", shape: { enum: Object.keys(WHEN) } },
  continue_on_error: CONTINUE,
  continue_on_err: { ...CONTINUE, isOld: true },
  allow_failure: { ...CONTINUE, isOld: true },
  timeout: { about: "How long each attempt may take: `30s`, `5m`; a bare number is seconds.", shape: DURATION },
  retry: { about: COUNT.about, shape: { anyOf: [COUNT.shape, ref("retry")] } },
};
