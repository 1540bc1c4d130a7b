import type { EvaluateOptions } from "@steps/expression";
import { nearest } from "@steps/model/diagnostic";
import { type Run, tell } from "../run/run.ts";

/** The names that a hint is looked for among, and that a run is told of. */
const MAX_NAMES = 1000;

/**
 * Reads a variable that the job does not have as empty text, as users of GitLab expect it, and says so once for each name.
 * `undefined` where the mode of the job makes it an error.
 */
export function unknownVariables(run: Run, path: string): EvaluateOptions["onUnknownKey"] {
  if (run.job.mode?.isStrictVars === true) return undefined;
  return (object, name) => {
    const { vars } = run.contexts;
    if (object !== vars) return undefined;
    const { unknownVariables: told } = run.state;
    if (told.has(name) || told.size >= MAX_NAMES) return "";
    told.add(name);
    const near = nearest(name, Object.keys(vars).slice(0, MAX_NAMES));
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    const message = `The job has no variable "${name.slice(0, 80)}", so vars.${name.slice(0, 80)} is empty${hint}`;
    tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "unknown-variable", message });
    return "";
  };
}
