import { statSync } from "node:fs";
import type { CommandLine } from "@steps/console";
import { isWorkflowText } from "@steps/github-compiler";
import { readSource } from "./read-source.ts";
import { isCiFile, isWorkflowFile } from "./validate/find-files.ts";

/** Whether a file is a workflow of GitHub, by what the user says, by where it lies, or by what is in it. */
export function isWorkflow(line: CommandLine, path: string): boolean {
  const format = line.string("format");
  if (format === "github" || format === "gitlab-ci") return format === "github";
  if (isWorkflowFile(path)) return true;
  // What is no file may be a reference.
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile && !isCiFile(path) && isWorkflowText(readSource(path));
}
