import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "@steps/console";
import { findGit } from "@steps/workspace";
import { ciFileOf } from "./read-project-pipeline.ts";

/** A project to run a pipeline of. */
export interface OpenProject extends Disposable {
  /** The path of its CI file. */
  readonly file: string;
  /** The URL that it was cloned from; absent for a folder of the user. */
  readonly url?: string | undefined;
}

/** Opens the project of a file, of a folder, or of a repository, which is cloned for as long as it is open. @throws {UsageError} */
export async function openProject(source: string, ref: string | undefined): Promise<OpenProject> {
  const isRemote = /^(?:https?|ssh|git|file):\/\//i.test(source) || /^[\w.-]+@[\w.-]+:/.test(source);
  if (!isRemote) return { file: ciFileOf(source), [Symbol.dispose]: () => undefined };
  const git = findGit(process.env);
  if (git === undefined) throw new UsageError("There is no git to clone the repository with");
  const folder = mkdtempSync(join(tmpdir(), "pod-run-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const branch = ref === undefined ? [] : ["--branch", ref];
    await git.run(folder, "clone", "--quiet", ...branch, "--", source, "project");
    return { file: ciFileOf(join(folder, "project")), url: source, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
