import type { RuntimeJson } from "@steps/proto";
import type { Difference } from "./compare.ts";

// The kernel and the runner's own Node are only observed.
const FIELDS = ["os", "arch", "libc", "osRelease", "timezone", "umask"] as const;

/** How the machines of two runs differ. */
export function compareRuntime(
  expected: RuntimeJson,
  actual: RuntimeJson,
  { countsDrift }: { readonly countsDrift: boolean },
): Difference[] {
  return FIELDS.flatMap((field) => {
    const [before, after] = [expected[field] ?? "", actual[field] ?? ""];
    if (before === after) return [];
    return [
      {
        path: "",
        step: "",
        pointer: `/runtime/${field}`,
        kind: "runtime",
        severity: countsDrift ? "different" : "drift",
        expected: before,
        actual: after,
      } satisfies Difference,
    ];
  });
}
