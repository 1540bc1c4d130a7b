import { basename } from "node:path";
import { readGitFacts } from "@steps/engine/github";
import { loginName } from "@steps/platform/runtime";

/**
 * Job variables that a runner would give and that on a machine of one's own follow from git and its user. They are variables, and
 * nothing of the machine, so that a replay elsewhere has the same.
 */
export function localVariables(workDir: string): Record<string, string> {
  const { user = userName(), repository, defaultBranch } = readGitFacts(workDir);
  return {
    GITLAB_USER_LOGIN: user,
    ...(repository === undefined ? { CI_PROJECT_PATH: `${user}/${basename(workDir)}` } : {}),
    ...(defaultBranch === undefined ? {} : { CI_DEFAULT_BRANCH: defaultBranch }),
  };
}

/** The name of the user of this machine, or a word for one without a name. */
function userName(): string {
  return loginName() ?? "user";
}
