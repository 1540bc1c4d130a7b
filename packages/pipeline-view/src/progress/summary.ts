import { formatDuration } from "@steps/trace";
import type { ProgressTree } from "./progress-tree.ts";

/** `2 passed, 1 failed, 1 skipped in 3.2s`: the numbers of what has ended, and the time since the beginning. */
export function summarise(tree: ProgressTree, now: number): string {
  const { passed, failed, allowed, skipped, cancelled } = tree.counts();
  const parts = [
    `${passed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(allowed > 0 ? [`${allowed} allowed to fail`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
  ];
  return `${parts.join(", ")} in ${formatDuration(Math.max(0, now - tree.root.startedAt))}`;
}
