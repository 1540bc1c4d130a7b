import type { ProgressNode, ProgressTree } from "./progress-tree.ts";

/** The step that a job has failed of: the innermost one, and the last of its attempts. `undefined` if no step has failed. */
export function failingNode({ root }: ProgressTree): ProgressNode | undefined {
  let found: ProgressNode | undefined;
  for (let next = failed(root.children); next !== undefined; next = failed(next.children)) found = next;
  return found;
}

function failed(nodes: readonly ProgressNode[]): ProgressNode | undefined {
  const failures = nodes.filter(({ status, isAllowed }) => FAILURES.has(status) && isAllowed !== true);
  return nodes.some(({ isAttempt }) => isAttempt) ? failures.at(-1) : failures[0];
}

const FAILURES: ReadonlySet<string> = new Set(["failure", "error", "timeout"]);
