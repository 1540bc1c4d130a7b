import { type CommandLine, type Flags, UsageError } from "@steps/console";
import { type GitReference, isReferenceProblem, parseReference, type StepReference } from "@steps/model";

/** Flags that name a step in a git repository part by part. */
export const gitFlags: Flags = {
  "git-url": { type: "string", placeholder: "URL", summary: "Run a step of this git repository" },
  "git-rev": { type: "string", placeholder: "REV", summary: "Its branch, tag or commit; needed with --git-url" },
  "git-dir": { type: "string", placeholder: "DIR", summary: "Its folder or step file; the root by default" },
};

/** The step that the arguments name, if any. @throws {UsageError} */
export function readReference(line: CommandLine): StepReference | undefined {
  const url = line.string("git-url");
  if (url !== undefined) return gitReference(line, url);
  const [text] = line.positionals;
  return text === undefined ? undefined : parseArgument(text);
}

/** Reads a reference as it was typed; `step: REF`, as GitLab's step runner takes it, too. @throws {UsageError} */
export function parseArgument(text: string): StepReference {
  const parsed = parseReference(text.replace(/^\s*(?:step|func):\s+/, ""));
  if (isReferenceProblem(parsed)) throw new UsageError(parsed.message, parsed.hint);
  if (parsed.kind === "dynamic")
    throw new UsageError(
      `The reference holds an expression: "${text}"`,
      "There is nothing yet that it could be expanded with.",
    );
  return parsed;
}

function gitReference(line: CommandLine, url: string): GitReference {
  const version = line.string("git-rev");
  if (version === undefined) throw new UsageError("--git-url needs --git-rev");
  const dir = (line.string("git-dir") ?? "").replaceAll(/^\/+|\/+$/g, "");
  const full = /^[a-z+]+:\/\//i.test(url) ? url : `https://${url}`;
  const parsed = parseReference(`git+${full}${dir === "" ? "" : `//${dir}`}@${version}`);
  if (isReferenceProblem(parsed)) throw new UsageError(parsed.message, parsed.hint);
  return parsed as GitReference;
}
