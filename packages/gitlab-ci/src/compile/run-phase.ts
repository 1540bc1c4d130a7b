import { compileRunNode } from "@steps/compiler";
import type { YamlNode } from "@steps/source";
import { holdsReference } from "../load/nodes.ts";
import type { CompileContext } from "./compile-context.ts";
import type { Phase } from "./phase.ts";

/** The `run:` of a job, nested as one step. `undefined` when it cannot be read. */
export function runPhase({ job, variables, unknownNames, report }: CompileContext): Phase | undefined {
  const run = job.own.get("run")?.value as YamlNode;
  const steps = variables.nodes.get("STEPS");
  if (steps !== undefined) {
    report.error(steps, { code: "conflicting-keys", message: `The variable "STEPS" cannot stand beside "run"` });
  }
  // The loader reported it.
  if (holdsReference(run)) return undefined;
  const { specDefinition, diagnostics, positionOf } = compileRunNode(run, { unknownNames });
  report.include(diagnostics);
  if (specDefinition === undefined) return undefined;
  return { name: "run", step: { kind: "inline", specDefinition, seesCallerInputs: true }, node: run, positionOf };
}
