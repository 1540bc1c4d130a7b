import type { CommandLine } from "@steps/console";
import { isWorkflowFile } from "./validate/find-files.ts";

/** Whether a file is a workflow of GitHub, by what the user says or by where it lies. */
export function isWorkflow(line: CommandLine, path: string): boolean {
  const format = line.string("format");
  if (format === "github" || format === "gitlab-ci") return format === "github";
  return isWorkflowFile(path);
}
