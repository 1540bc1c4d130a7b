import { decodeReference } from "@steps/model/baseline";
import { formatReference, isReferenceProblem, parseReference } from "@steps/model/reference";
import type { Step_ReferenceJson } from "@steps/proto";
import { stepLabel } from "./step-label.ts";

/** The parts of a record or of an event that name a step. */
interface NamedStep {
  readonly path?: string;
  readonly name?: string;
  readonly reference?: Step_ReferenceJson | undefined;
}

/**
 * The name of a step for people: its own name, or else the reference that it runs, such as `./greet`. A step without either is
 * `#N`, the N-th of its list, and the job has an empty text.
 */
export function shownLabel({ path = "", name = "", reference }: NamedStep): string {
  if (name === "" && path !== "" && reference !== undefined) {
    const written = writtenReference(reference);
    if (written !== undefined) return written;
  }
  return stepLabel({ name, path });
}

// A trace from elsewhere may hold any reference; one that cannot be read back is no name.
function writtenReference(json: Step_ReferenceJson): string | undefined {
  if (json.protocol === "spec_def" || json.protocol === "dynamic") return undefined;
  try {
    const text = formatReference(decodeReference(json));
    return isReferenceProblem(parseReference(text)) ? undefined : text;
  } catch {
    return undefined;
  }
}
