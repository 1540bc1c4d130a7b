import type { Phase } from "../compile/phase.ts";

/** The lines that gitlab-runner heads its sections of the log with, by their names. */
const HEADS: ReadonlyMap<string, string> = new Map([
  ["get_sources", "Getting source from Git repository"],
  ["restore_cache", "Restoring cache"],
  ["download_artifacts", "Downloading artifacts"],
  ["after_script", "Running after_script"],
  ["cleanup_file_variables", "Cleaning up project directory and file based variables"],
]);

/** The sections of a job's log, each with its first line, by the names of the phases. */
export function logSections(phases: readonly Phase[]): Readonly<Record<string, string>> {
  return Object.fromEntries(phases.map(({ name }) => [name, HEADS.get(name) ?? headOf(name)]));
}

// Phases of which a job may have several begin with what they do.
function headOf(name: string): string {
  if (name.startsWith("archive_cache")) return "Saving cache";
  if (name.startsWith("upload_")) return "Uploading artifacts";
  return `Executing "${name}" stage of the job script`;
}
