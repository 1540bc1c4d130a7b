import {
  cleanUpRun,
  endSkipped,
  letsListGoOn,
  mayBeAllowed,
  outcomeOfParent,
  type Run,
  runToldStep,
  type StepEnd,
  type StepOpening,
  withoutCredentials,
} from "@steps/executor/kit";
import { evaluateCondition } from "@steps/github-language";
import type { Outcome } from "@steps/model";
import { evaluationOf, statusOf } from "../job/action-scope.ts";
import type { ActionJob } from "../job/action-job.ts";
import type { PhaseEntry, PostEntry } from "../job/phase-entry.ts";

/** Runs one phase of an action with an event for its begin and its end. */
export async function runPhase(
  run: Run,
  entry: PhaseEntry,
  place: { readonly path: string; readonly phase: "pre" | "post" },
): Promise<StepEnd> {
  const { phase } = place;
  const name = `${phase === "pre" ? "Pre" : "Post"} ${entry.title}`;
  return tellPhase(run, entry, { ...place, name }, async () => {
    const status = statusOf(run, entry.scope, true);
    const { holds, explanation } = evaluateCondition(entry.condition, { ...evaluationOf(run, entry.scope), status });
    return holds ? entry.run(run, place.path) : endSkipped(explanation);
  });
}

/** Tells of a `pre` that cannot so much as begin, because of an error. */
export function refusePre(
  run: Run,
  entry: Pick<PhaseEntry, "title" | "reference" | "allowsFailure">,
  { path, error }: { readonly path: string; readonly error: unknown },
): Promise<StepEnd> {
  return tellPhase(run, entry, { path, phase: "pre", name: `Pre ${entry.title}` }, () => Promise.reject(error));
}

function tellPhase(
  run: Run,
  { reference, allowsFailure }: Pick<PhaseEntry, "reference" | "allowsFailure">,
  opening: Pick<StepOpening, "path" | "phase" | "name">,
  body: () => Promise<StepEnd>,
): Promise<StepEnd> {
  return runToldStep(run, { ...opening, reference: withoutCredentials(reference) }, body, (end) =>
    mayBeAllowed(end.outcome.status) && allowsFailure(run) ? { ...end, conclusion: "success" } : end,
  );
}

/** Runs the phases that were put aside, the last first, whatever happened before. Returns the first failure. */
export async function runPosts(
  run: Run,
  posts: PostEntry[],
  options: {
    readonly pathOf: () => string;
    /** Called after a failure, before the next one runs. */
    readonly onFailure?: () => void;
  },
): Promise<{ readonly outcome: Outcome; readonly title: string } | undefined> {
  let failure: { outcome: Outcome; title: string } | undefined;
  while (posts.length > 0) {
    const entry = posts.pop() as PostEntry;
    if (!entry.isNeeded()) continue;
    const cleanUp = cleanUpRun(run);
    try {
      const end = await runPhase(cleanUp.run, entry, { path: options.pathOf(), phase: "post" });
      if (letsListGoOn(end)) continue;
      failure ??= { outcome: end.outcome, title: entry.title };
      options.onFailure?.();
    } finally {
      cleanUp.release();
    }
  }
  return failure;
}

/** Runs the phases that the job's actions have put aside, at the end of the job. Returns the first failure. */
export async function runPostsOfJob(run: Run, { posts }: ActionJob): Promise<Outcome | undefined> {
  const { state } = run;
  if (run.signal.aborted) state.isCancelled = true;
  const failure = await runPosts(run, posts, {
    pathOf: () => String(state.nextPhase++),
    // The conditions of the next ones see that the job has failed.
    onFailure: () => {
      state.hasFailed = true;
    },
  });
  if (failure === undefined) return undefined;
  return outcomeOfParent(failure.outcome, JSON.stringify(`Post ${failure.title}`));
}
