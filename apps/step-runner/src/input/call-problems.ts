import type { Compiled, CompileOptions } from "@steps/compiler";
import { checkCalls } from "@steps/engine/components";
import type { Diagnostic } from "@steps/model/diagnostic";

/** A text of steps that was compiled; without a definition there is nothing to compare. */
type CompiledText = Partial<Pick<Compiled, "specDefinition" | "positionOf">>;

/** The circumstances under which a text is compared with the local steps that it names. */
interface CallOptions {
  /** The absolute folders that local references may be relative to, the likeliest first. */
  readonly dirs: readonly string[];
  /** The treatment of a wrong call, as that of an unknown name. Default: it is an error. */
  readonly severity?: CompileOptions["unknownNames"];
  readonly isLenient?: boolean | undefined;
}

/** Says which calls of a text do not fit the steps of this machine that they name; nothing is fetched. */
export async function callProblems(
  { specDefinition, positionOf }: CompiledText,
  { dirs, severity = "error", isLenient }: CallOptions,
): Promise<readonly Diagnostic[]> {
  if (specDefinition === undefined) return [];
  const isAboutToRun = severity !== "error";
  const problems = await checkCalls({ specDefinition, positionOf, dirs, isLenient, isAboutToRun });
  return severity === "warning" ? problems.map((problem) => ({ ...problem, severity })) : problems;
}
