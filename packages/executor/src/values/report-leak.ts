import { type Run, tell } from "../run/run.ts";

/** Takes note of a secret in a place that is not marked for it. */
export type ReportLeak = (problem: string) => void;

/**
 * Returns `undefined` where such a secret ends the step, as it does unless the run was told to warn only (conformance
 * section 20 C30).
 */
export function leakReporter(run: Run, path: string): ReportLeak | undefined {
  if (run.job.mode?.warnsOfSensitive !== true) return undefined;
  return (message) =>
    tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "sensitive-value", message });
}
