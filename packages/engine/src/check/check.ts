import type { LoadDiagnostic } from "../engine-error.ts";
import type { LoadOptions } from "../load-options.ts";
import { StepLoader } from "../load-step.ts";
import type { RunContext } from "../run.ts";
import { type CheckedTree, type CheckReference, type CheckRoot, StepChecker } from "./check-steps.ts";

/** Follows a tree of steps without running it; what it names is fetched. The diagnostics are those of all files. */
export async function check(
  { cache, program, stateDir, hasLegacyRefs }: RunContext,
  root: CheckRoot | CheckReference,
  options: LoadOptions,
): Promise<CheckedTree> {
  const files: LoadDiagnostic[] = [];
  const seen = new Set<readonly LoadDiagnostic[]>();
  const loader = new StepLoader({
    hasLegacyRefs,
    ...options,
    cache,
    workspace: root.baseDir,
    tmpDir: stateDir,
    isReadOnly: true,
    program,
    onDiagnostics: (path, diagnostics) => {
      if (!seen.has(diagnostics)) files.push(...diagnostics);
      seen.add(diagnostics);
      options.onDiagnostics?.(path, diagnostics);
    },
  });
  const checker = new StepChecker(loader, options.signal);
  const tree = await ("reference" in root ? checker.checkReference(root) : checker.check(root));
  return { root: tree.root, diagnostics: [...files, ...tree.diagnostics] };
}
