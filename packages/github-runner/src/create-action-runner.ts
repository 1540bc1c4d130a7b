import type { ActionItem, ActionRunner, Level, Run } from "@steps/executor/kit";
import { ownNode } from "@steps/platform/runtime";
import { prepareActionsOfJob, runActionStep } from "./lists/action-step.ts";
import type { ActionHost } from "./job/action-host.ts";
import { ActionJob } from "./job/action-job.ts";
import { joinPaths } from "./process/join-paths.ts";
import { runPostsOfJob } from "./actions/phases.ts";
import { expectNode } from "./programs/find-node.ts";
import { runWorkflowJob } from "./lists/workflow-job.ts";

/**
 * Makes the runner of the GitHub actions of one run. The host is opened when the first action begins, after all of them were
 * fetched.
 */
export function createActionRunner(openHost: () => Promise<ActionHost>): ActionRunner {
  let opened: Promise<ActionJob> | undefined;
  const jobOf = (run: Run): Promise<ActionJob> => (opened ??= ActionJob.open(run, openHost));
  return {
    prepare: (run, level, list) => prepareActionsOfJob(run, level, { ...list, jobOf }),
    runItem: async (run, level, item) => {
      if (opened === undefined) expectNodeFor(level, item);
      return runActionStep(run, level, { ...item, job: await jobOf(run) });
    },
    runWorkflowJob: async (run, level, definition) => runWorkflowJob(run, level, { definition, job: await jobOf(run) }),
    runPosts: async (run) => (opened === undefined ? undefined : runPostsOfJob(run, await opened)),
    joinPaths: async (run, environment, added) =>
      opened === undefined ? {} : joinPaths(run, environment, { ...added, job: await opened }),
  };
}

// A program takes as long to tell its version as everything that is done before its answer is needed.
function expectNodeFor({ environment }: Pick<Level, "environment">, { opened }: Pick<ActionItem, "opened">): void {
  const { using } = opened.specDefinition.definition.github ?? {};
  const path = environment.flatten()["PATH"];
  if (using === undefined || path === undefined) return;
  // A Node.js of the tool cache is not known yet: with one, this is asked in vain.
  expectNode(using, { path: String(path), toolCacheDir: undefined, env: process.env, own: ownNode() });
}
