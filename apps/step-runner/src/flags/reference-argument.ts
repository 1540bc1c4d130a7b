import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { nearestPath } from "../files/nearest-path.ts";
import { flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import {
  type ActionReference,
  DEFAULT_FILES,
  type GitReference,
  isReferenceProblem,
  parseActionReference,
  parseReference,
  type StepReference,
} from "@steps/model/reference";

/** Flags that name a step in a git repository part by part. */
export const gitFlags = grouped("A step named part by part", {
  "git-url": flag.text({ placeholder: "URL", summary: "Run a step of this git repository" }),
  "git-rev": flag.text({ placeholder: "REV", summary: "Its branch, tag or commit; needed with --git-url" }),
  "git-dir": flag.text({ placeholder: "DIR", summary: "Its folder or step file; the root by default" }),
});

/** The options that name a step of a git repository part by part. */
export type GitOptions = OptionsOf<typeof gitFlags>;

/** The step that the arguments name, if any. @throws {UsageError} */
export function readReference(options: Partial<GitOptions>, text: string | undefined): StepReference | undefined {
  if (options.gitUrl !== undefined) return gitReference(options, options.gitUrl);
  return text === undefined ? undefined : parseArgument(text);
}

/** Reads a reference as it was typed; `step: REF`, as GitLab's step runner takes it, too. @throws {UsageError} */
export function parseArgument(written: string): StepReference {
  const text = written.replace(/^\s*(?:step|func):\s+/, "");
  const action = parseAction(written);
  if (action !== undefined) return action;
  const parsed = parseReference(text);
  const isHere = existsSync(text);
  // Nobody calls a repository or an image like a file of steps.
  const isFileName = /^[^:@]+\.(?:ya?ml|json|txtpb|textproto)$/i.test(text);
  if (isHere && !/^\.{0,2}\//.test(text) && (isFileName || isReferenceProblem(parsed)))
    return parseArgument(`./${text}`);
  if (!isHere && isReferenceProblem(parsed) && isFileName)
    throw new UsageError(`There is no file "${text}"`, meant(text));
  if (isReferenceProblem(parsed)) throw new UsageError(parsed.message, meant(text) ?? parsed.hint);
  if (parsed.kind === "oci" && isHere && !/^oci:/i.test(text))
    throw new UsageError(
      `"${text}" names an image, and there is a file or folder of that name`,
      `Write ./${text} for what is here, oci://${parsed.registry}/${parsed.repository} for the image.`,
    );
  if (parsed.kind === "dynamic")
    throw new UsageError(
      `The reference holds an expression: "${text}"`,
      "There is nothing yet that it could be expanded with.",
    );
  return parsed;
}

function meant(text: string): string | undefined {
  const near = /^[^:@]+$/.test(text) ? nearestPath(text) : undefined;
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

// `owner/repo@ref` is no address of a git repository, since its host would have no dot.
const ACTION = /^(?:docker:\/\/|[A-Za-z0-9][A-Za-z0-9-]*\/[A-Za-z0-9._-]+(?:\/[^@:\s]+)?@)/;

function parseAction(written: string): ActionReference | undefined {
  const named = /^\s*(?:action|uses):\s+(.*)$/s.exec(written)?.[1];
  const text = named ?? written;
  if (named === undefined && !ACTION.test(text) && !isActionFolder(text)) return undefined;
  const parsed = parseActionReference(/^\.?\.?\//.test(text) ? workspacePath(text) : text);
  if (isReferenceProblem(parsed)) throw new UsageError(parsed.message, parsed.hint);
  return parsed;
}

function isActionFolder(text: string): boolean {
  if (!/^\.{0,2}\//.test(text) && text !== ".") return false;
  const holds = (names: readonly string[]): boolean => names.some((name) => existsSync(join(text, name)));
  return holds(["action.yml", "action.yaml"]) && !holds(DEFAULT_FILES);
}

function workspacePath(text: string): string {
  const path = relative(process.cwd(), resolve(text));
  if (path.startsWith("..") || isAbsolute(path)) {
    throw new UsageError(`The action "${text}" is not in the workspace`, "Go to a folder above it.");
  }
  return `./${path}`;
}

function gitReference({ gitRev: version, gitDir = "" }: Partial<GitOptions>, url: string): GitReference {
  if (version === undefined) throw new UsageError("--git-url needs --git-rev");
  const dir = gitDir.replaceAll(/^\/+|\/+$/g, "");
  const full = /^[a-z+]+:\/\//i.test(url) ? url : `https://${url}`;
  const parsed = parseReference(`git+${full}${dir === "" ? "" : `//${dir}`}@${version}`);
  if (isReferenceProblem(parsed)) throw new UsageError(parsed.message, parsed.hint);
  return parsed as GitReference;
}
