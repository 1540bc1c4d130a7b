import type { StepRecordJson } from "@steps/proto";

/** What a step is called in reports: its name, `#N` for the N-th of its list when it has none, nothing for the job. */
export function stepLabel({ name, path }: StepRecordJson): string {
  if (name !== undefined && name !== "") return name;
  return path === undefined || path === "" ? "" : `#${Number(path.split("/").at(-1)) + 1}`;
}
