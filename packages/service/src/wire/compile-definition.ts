import type { Compiled } from "@steps/compiler";
import { formatDiagnostic, hasErrors, type SpecDefinition } from "@steps/model";
import { createMasker } from "@steps/trace";
import type { JobSpec } from "../job-spec.ts";
import { ServiceError } from "../service-error.ts";

/** A definition with its places, as a job takes it. */
export type CompiledDefinition = Required<Pick<JobSpec, "specDefinition" | "positionOf">>;

/**
 * Compiles what a request holds: a list of steps, a definition, both documents of a step file, or a baseline message.
 *
 * @throws {ServiceError} REQUEST_INVALID with every error, its place and its hint; the secrets are replaced
 */
export async function compileDefinition(
  source: { readonly name: string; readonly text: string },
  secrets: readonly string[],
): Promise<CompiledDefinition> {
  // A service that nobody calls does not hold the compiler in memory.
  const { compileInput } = await import("@steps/compiler");
  const compiled = compileInput(source);
  return { specDefinition: compiled.specDefinition ?? refuse(compiled, secrets), positionOf: compiled.positionOf };
}

const MAX_TEXT_UNITS = 7000;

function refuse(compiled: Compiled, secrets: readonly string[]): SpecDefinition {
  const errors = compiled.diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
  const masker = createMasker();
  for (const secret of secrets) masker.add(secret);
  const rows: string[] = [];
  let size = 0;
  for (const error of errors) {
    const row = masker.text(formatDiagnostic(error));
    size += row.length;
    if (rows.length > 0 && size > MAX_TEXT_UNITS) break;
    rows.push(row);
  }
  if (rows.length < errors.length) rows.push(`and ${errors.length - rows.length} more`);
  throw new ServiceError("REQUEST_INVALID", rows.join("\n"));
}
