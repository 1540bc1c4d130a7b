import type { CompileOptions } from "@steps/compiler";
import type { CiReport } from "../ci-rules.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import type { JobVariables } from "../variables/job-variables.ts";
import type { TextScope } from "./job-text.ts";

/** A shell that scripts may be run by. */
export type Shell = "auto" | "bash" | "sh" | "pwsh" | "powershell";

/** A job while its phases are made. */
export interface CompileContext {
  readonly job: LoadedJob;
  readonly variables: JobVariables;
  readonly scope: TextScope;
  /** The shell of the scripts; absent for the one that they take by themselves. */
  readonly shell: Shell | undefined;
  /** The treatment of names in `run` that are certain to be unknown, as for the compiler of steps. */
  readonly unknownNames: CompileOptions["unknownNames"];
  readonly report: CiReport;
}
