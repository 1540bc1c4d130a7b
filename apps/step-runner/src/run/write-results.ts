import { writeWhole } from "@steps/console/terminal";
import { encodePrototext } from "@steps/trace";
import type { RunOptions } from "../flags/run-flags.ts";

type StepResult = Parameters<typeof encodePrototext>[0];

/** Writes the result tree. */
export async function writeResults(
  path: string,
  format: RunOptions["stepResultsFormat"],
  result: StepResult,
): Promise<void> {
  const text = format === "prototext" ? await encodePrototext(result) : `${JSON.stringify(result, null, 2)}\n`;
  writeWhole(path, text);
}

/** The path of the result tree as it was typed; `undefined` if nobody wants one. */
export function resultsFile(
  options: Pick<RunOptions, "writeStepsResults" | "stepResultsFile" | "stepResultsFormat">,
): string | undefined {
  const { writeStepsResults, stepResultsFile, stepResultsFormat } = options;
  if (stepResultsFile !== undefined) return stepResultsFile;
  if (!writeStepsResults) return undefined;
  return stepResultsFormat === "prototext" ? "step-results.txtpb" : "step-results.json";
}
