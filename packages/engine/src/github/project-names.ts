import { revealString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import { readGitFacts } from "./git-facts.ts";

/** Returns the names of the job's project: from its variables, otherwise from the remote of its working copy. */
export function projectNames(vars: EnvironmentRecord, workspace: string): Readonly<Record<string, string | undefined>> {
  const text = (name: string): string | undefined => (vars[name] === undefined ? undefined : revealString(vars[name]));
  return {
    CI_PROJECT_PATH: text("CI_PROJECT_PATH"),
    CI_SERVER_URL: text("CI_SERVER_URL"),
    GITHUB_REPOSITORY: text("CI_PROJECT_PATH") ?? readGitFacts(workspace).repository,
    GITHUB_SERVER_URL: "https://github.com",
  };
}
