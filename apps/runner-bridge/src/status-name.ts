import { RunStatus } from "@steps/proto";

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RunStatus).map(([name, number]) => [number, name]));

/** How a job ended, in a word; a job without a status runs. */
export function statusName(status: number | undefined): string {
  return NAMES.get(status ?? RunStatus.running) ?? "unknown";
}
