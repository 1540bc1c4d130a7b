import { userInfo } from "node:os";
import { basename } from "node:path";
import { readGitFacts } from "@steps/engine/github";

/**
 * Job variables that a runner would give and that on a machine of one's own follow from git and its user. They are variables, and
 * nothing of the machine, so that a replay elsewhere has the same.
 */
export function localVariables(workDir: string): Record<string, string> {
  const { user = loginName(), repository, defaultBranch } = readGitFacts(workDir);
  return {
    GITLAB_USER_LOGIN: user,
    ...(repository === undefined ? { CI_PROJECT_PATH: `${user}/${basename(workDir)}` } : {}),
    ...(defaultBranch === undefined ? {} : { CI_DEFAULT_BRANCH: defaultBranch }),
  };
}

/** The name of the user of this machine. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may have a user without a name.
    return "user";
  }
}
