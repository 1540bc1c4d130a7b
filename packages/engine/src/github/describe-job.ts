import { hostname } from "node:os";
import { type GithubContexts, githubContexts } from "@steps/github-compiler/contexts";
import type { ActionFacts } from "@steps/github-runner";
import { readGitFacts } from "./git-facts.ts";
import type { GithubOptions } from "./github-options.ts";

/** The contexts `github` and `runner` of a job on this machine. */
export function describeJob(
  options: GithubOptions,
  facts: Pick<ActionFacts, "variable" | "workspace"> & Partial<ActionFacts> & { readonly toolCacheDir?: string },
): GithubContexts {
  const { variable, workspace, temp = "", eventPath, toolCacheDir = "", inputs } = facts;
  const { serverUrl, apiUrl, graphqlUrl, eventName, event } = options;
  return githubContexts(variable, {
    workspace,
    eventPath,
    runnerTemp: temp,
    toolCache: toolCacheDir,
    runnerName: hostname(),
    os: process.platform,
    arch: process.arch,
    isDebug: options.isDebug === true || variable("ACTIONS_STEP_DEBUG") === "true" || variable("RUNNER_DEBUG") === "1",
    gitFacts: readGitFacts(workspace),
    serverUrl,
    apiUrl,
    graphqlUrl,
    eventName,
    event,
    inputs,
  });
}
