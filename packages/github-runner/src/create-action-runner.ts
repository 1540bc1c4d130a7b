import type { ActionRunner, Run } from "@steps/executor/kit";
import { prepareActionsOfJob, runActionStep } from "./lists/action-step.ts";
import type { ActionHost } from "./job/action-host.ts";
import { ActionJob } from "./job/action-job.ts";
import { joinPaths } from "./process/join-paths.ts";
import { runPostsOfJob } from "./actions/phases.ts";
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
    runItem: async (run, level, item) => runActionStep(run, level, { ...item, job: await jobOf(run) }),
    runWorkflowJob: async (run, level, definition) => runWorkflowJob(run, level, { definition, job: await jobOf(run) }),
    runPosts: async (run) => (opened === undefined ? undefined : runPostsOfJob(run, await opened)),
    joinPaths: async (run, environment, added) =>
      opened === undefined ? {} : joinPaths(run, environment, { ...added, job: await opened }),
  };
}
