import { type EnvironmentRecord, isSensitive, mapObject, reveal, type RuntimeValue, type Value } from "@steps/model";
import type { Level } from "../run/level.ts";

/** The variable with the path of the context file. */
export const CONTEXT_VARIABLE = "STEP_JSON";

/**
 * What a process that asks for it finds in the file `STEP_JSON` (`steps-language` 2): the step's inputs, its environment, and
 * where it is. Secrets are in it only where they are the step's own: in its environment, and in inputs that its spec declares.
 */
export function contextText(
  level: Level,
  env: EnvironmentRecord,
  { workDir, seesCallerInputs }: { readonly workDir: string; readonly seesCallerInputs: boolean },
): string {
  const inputs = Object.entries(level.inputs).filter(([, value]) => !seesCallerInputs || !isSensitive(value));
  const context = {
    inputs: mapObject(Object.fromEntries(inputs), (value) => reveal(value)),
    env: mapObject(env, (value: RuntimeValue) => reveal(value)),
    step_dir: level.dir,
    work_dir: workDir,
    output_file: level.files.outputFile(),
    export_file: level.files.exportFile(),
  } satisfies Record<string, Value>;
  return `${JSON.stringify(context)}\n`;
}
