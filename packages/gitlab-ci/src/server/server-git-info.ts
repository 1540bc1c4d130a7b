import type { ServerVariable } from "./server-variables.ts";

/** The depth when nothing names one: GitLab's default for new projects. */
const DEPTH = 20;

const EVERYTHING = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];

/**
 * The commit of a job, with as much of its history as `GIT_DEPTH` asks for: 0 stands for all of it, and then for all branches and
 * tags too, [as GitLab's server says it](https://docs.gitlab.com/ci/runners/configure_runners/#shallow-cloning) to a runner.
 */
export function serverGitInfo(
  commit: Readonly<Record<string, unknown>>,
  variables: readonly ServerVariable[],
): Readonly<Record<string, unknown>> {
  const given = variables.findLast(({ key }) => key === "GIT_DEPTH")?.value;
  const depth = given === undefined ? DEPTH : depthOf(given);
  return depth === 0 ? { ...commit, depth, refspecs: EVERYTHING } : { ...commit, depth };
}

// Ruby reads the digits in front, and takes anything else for 0.
function depthOf(text: string): number {
  return Math.min(Number(/^\s*(\d+)/.exec(text)?.[1] ?? 0), 2 ** 31 - 1);
}
