import type { Compiled } from "@steps/compiler";
import type { SpecDefinition } from "@steps/model/definition";
import { formatDiagnostic, hasErrors } from "@steps/model/diagnostic";
import { createMasker } from "@steps/trace/mask";
import type { SubmittedJob } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";

/** The compiler's own limit, here so that a service that nobody calls does not hold the compiler in memory. */
const MAX_SOURCE_UNITS = 4 * 1024 * 1024;

/** A definition with its places, as a job takes it. */
export type CompiledDefinition = Required<Pick<SubmittedJob, "specDefinition" | "positionOf">>;

/**
 * Compiles what a request holds: a list of steps, a definition, both documents of a step file, or a baseline message.
 *
 * @throws {ServiceError} REQUEST_INVALID with every error, its place and its hint; the secrets are replaced
 */
export async function compileDefinition(
  source: { readonly name: string; readonly text: string },
  maskedValues: readonly string[],
): Promise<CompiledDefinition> {
  // A service that nobody calls does not hold the compiler in memory.
  const { compileInput } = await import("@steps/compiler");
  const compiled = compileInput(source);
  return { specDefinition: compiled.specDefinition ?? refuse(compiled, maskedValues), positionOf: compiled.positionOf };
}

/**
 * Refuses a text that no compiler would take, before anything else is made of it.
 *
 * @throws {ServiceError} REQUEST_INVALID
 */
export function assertTextLength(name: string, text: string): void {
  if (text.length > MAX_SOURCE_UNITS)
    throw new ServiceError(
      "REQUEST_INVALID",
      `${name}: it has ${text.length} characters, ${MAX_SOURCE_UNITS} are allowed`,
    );
}

const MAX_TEXT_UNITS = 7000;

function refuse(compiled: Compiled, maskedValues: readonly string[]): SpecDefinition {
  const errors = compiled.diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
  const masker = createMasker();
  for (const value of maskedValues) masker.add(value);
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
