import { planReplay } from "@steps/engine";
import { shortDigest } from "@steps/model/digest";
import type { decodeTrace } from "@steps/trace";

/** The components that a replay of a trace will use, for people. */
export function formatPlan(trace: Awaited<ReturnType<typeof decodeTrace>>): string {
  const rows = planReplay(trace).map(({ resource, location }) => {
    const digest = resource.digest?.["gitTree"] ?? resource.digest?.["sha256"] ?? "";
    const version = resource.resolvedVersion ?? "";
    return `  ${resource.kind ?? ""} ${location}${version === "" ? "" : `@${shortDigest(version)}`} tree ${shortDigest(digest)}`;
  });
  const source = trace.request?.source ?? "";
  return [
    `Trace ${trace.traceId ?? ""} of ${source}, run in ${trace.request?.workDir ?? ""}`,
    "Components:",
    ...(rows.length === 0 ? ["  none"] : rows),
    "",
  ].join("\n");
}
