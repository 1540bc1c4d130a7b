import { isSensitive, mapObject, reveal, type RuntimeValue, type Value } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { Level } from "../run/level.ts";

/** The variable with the path of the context file. */
export const CONTEXT_VARIABLE = "STEP_JSON";

/**
 * Returns the text of the file `STEP_JSON`, for a process that asks for it (conformance section 2): the step's inputs, its
 * environment and its directories. It holds the step's own secrets only: those of its environment, and of inputs that its spec
 * declares.
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
