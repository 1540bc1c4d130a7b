import { statSync } from "node:fs";
import { isWorkflowText } from "@steps/github-compiler";
import type { JobOptions } from "./read-job.ts";
import { readSource } from "../files/read-source.ts";
import { isCiFile, isWorkflowFile } from "../files/find-files.ts";

/** Tells whether a file is a workflow of GitHub, by what the user says, by where it lies, or by what is in it. */
export function isWorkflow({ format }: Pick<JobOptions, "format">, path: string): boolean {
  if (format === "github" || format === "gitlab-ci") return format === "github";
  if (isWorkflowFile(path)) return true;
  // A name that is no file may be a reference.
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile && !isCiFile(path) && isWorkflowText(readSource(path));
}
