import { type CommandLine, writeWhole } from "@steps/console";
import { encodePrototext } from "@steps/trace";

type StepResult = Parameters<typeof encodePrototext>[0];

/** Writes the result tree where and how the flags want it. */
export async function writeResults(line: CommandLine, result: StepResult): Promise<void> {
  writeWhole(
    resultsPath(line),
    isPrototext(line) ? await encodePrototext(result) : `${JSON.stringify(result, null, 2)}\n`,
  );
}

/** Returns the path of the result tree. */
export function resultsPath(line: CommandLine): string {
  return line.string("step-results-file") ?? (isPrototext(line) ? "step-results.txtpb" : "step-results.json");
}

function isPrototext(line: CommandLine): boolean {
  return line.string("step-results-format") === "prototext";
}
