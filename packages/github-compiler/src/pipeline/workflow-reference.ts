import { parseActionReference, type ReferenceProblem } from "@steps/model/reference";

/** Names a workflow that a job calls. */
export type WorkflowReference = LocalWorkflow | RepositoryWorkflow;

/** `./.github/workflows/build.yml`, or `$/` for `./`: a file of the repository, at the commit, of the workflow that calls it. */
interface LocalWorkflow {
  readonly kind: "local";
  /** The path from the root of the repository: `.github/workflows/build.yml`. */
  readonly path: string;
}

/** `owner/repo/.github/workflows/build.yml@v1`, or the same with the URL of another host. */
interface RepositoryWorkflow {
  readonly kind: "repository";
  /** The URL of the repository: show it through `publicUrl()` only. */
  readonly url: string;
  /** `owner/repo`: the path of the URL. */
  readonly repository: string;
  /** Branch, tag or full commit. */
  readonly version: string;
  readonly path: string;
}

const PATH = /^\.github\/workflows\/[^/]+\.ya?ml$/;

/**
 * Reads `uses` of a job. Workflows lie in `.github/workflows`, not in a folder of it.
 * https://docs.github.com/actions/reference/workflows-and-actions/reusing-workflow-configurations
 */
export function parseWorkflowReference(text: string): WorkflowReference | ReferenceProblem {
  if (/^(?:\.{0,2}|\$)\//.test(text)) {
    const [, path] = /^[.$]\/(.*)$/s.exec(text) ?? [];
    return path !== undefined && PATH.test(path) ? { kind: "local", path } : outside(text);
  }
  const action = parseActionReference(text);
  if ("message" in action) return { message: action.message.replace("The action", "The call"), hint: HINT };
  if (action.source !== "repository" || !PATH.test(action.dir)) return outside(text);
  const { url, repository, version, dir } = action;
  return { kind: "repository", url, repository, version, path: dir };
}

const HINT = "Write ./.github/workflows/FILE.yml, or owner/repo/.github/workflows/FILE.yml@REF.";

function outside(text: string): ReferenceProblem {
  return { message: `The call names no file in .github/workflows: "${text.slice(0, 120)}"`, hint: HINT };
}
