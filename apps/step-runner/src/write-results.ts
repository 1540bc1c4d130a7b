import { encodePrototext } from "@steps/trace";
import type { CommandLine } from "./command.ts";
import { writeWhole } from "./write-whole.ts";

type StepResult = Parameters<typeof encodePrototext>[0];

/** Writes the result tree where and how the flags want it. */
export async function writeResults(line: CommandLine, result: StepResult): Promise<void> {
  const isText = line.string("step-results-format") === "prototext";
  const path = line.string("step-results-file") ?? (isText ? "step-results.txtpb" : "step-results.json");
  writeWhole(path, isText ? await encodePrototext(result) : `${JSON.stringify(result, null, 2)}\n`);
}
