import type { StepRecordJson } from "@steps/proto";

/**
 * Returns the name of a step in reports: its own name, `#N` for the N-th of its list when it has none, and an empty
 * text for the job.
 */
export function stepLabel({ name, path }: StepRecordJson): string {
  if (name !== undefined && name !== "") return name;
  return path === undefined || path === "" ? "" : `#${Number(path.split("/").at(-1)) + 1}`;
}
