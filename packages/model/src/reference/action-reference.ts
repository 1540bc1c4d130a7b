import { publicUrl } from "./public-url.ts";
import { CONTROL, gitUrlProblem, type ReferenceProblem, versionProblem } from "./reference-problem.ts";

/** Names a GitHub action, as `uses:` does. */
export type ActionReference = RepositoryAction | WorkspaceAction | SelfAction | ImageAction;

/** `owner/repo/dir@ref`, or the same with the URL of another host. */
export interface RepositoryAction {
  readonly kind: "action";
  readonly source: "repository";
  /** The URL of the repository: `https://github.com/actions/checkout`. Show it through `publicUrl()` only. */
  readonly url: string;
  /** `actions/checkout`: the path of the URL. */
  readonly repository: string;
  /** Branch, tag or full commit. */
  readonly version: string;
  /** The folder of the manifest, relative to the repository's root, without slashes at its ends; empty for the root. */
  readonly dir: string;
}

/** `./dir`: in the job's workspace, whichever file names it. */
interface WorkspaceAction {
  readonly kind: "action";
  readonly source: "workspace";
  readonly dir: string;
}

/** `$/dir`: in the repository, at the commit, of the file that names it. */
interface SelfAction {
  readonly kind: "action";
  readonly source: "self";
  readonly dir: string;
}

/** `docker://image`. */
interface ImageAction {
  readonly kind: "action";
  readonly source: "image";
  readonly image: string;
}

/** The server on which `owner/repo` is looked up by default. */
export const ACTION_HOST = "https://github.com";

const OWNER = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;
const REPOSITORY = /^[A-Za-z0-9._-]+$/;
const SHORT_COMMIT = /^[0-9a-f]{7,39}$/;
const MAX_LENGTH = 4096;

/**
 * Reads what an action is named by: `owner/repo[/dir]@ref`, `https://host/path[//dir]@ref`, `./dir`, `$/dir`,
 * `docker://image`. The whole path of a URL names the repository, unless `//` or a `.git` ends it; on github.com the first two
 * parts do. A version that looks like a short commit is refused, as GitHub does.
 */
export function parseActionReference(text: string): ActionReference | ReferenceProblem {
  const trimmed = text.trim();
  if (trimmed === "") return { message: "The action is empty", hint: "Write owner/repo@ref, ./dir or docker://image." };
  if (trimmed.length > MAX_LENGTH) return { message: "The name of the action is too long" };
  if (CONTROL.test(trimmed)) return { message: "The name of the action holds a control character" };
  if (trimmed.includes("${{")) {
    return { message: "An action cannot be named by an expression", hint: "Write its name in full." };
  }
  if (/^docker:\/\//i.test(trimmed)) return parseImage(trimmed.slice("docker://".length));
  const normal = trimmed.replaceAll("\\", "/");
  if (/^\.\.?(?:\/|$)/.test(normal)) return inFolder("workspace", normal);
  if (/^\$(?:\/|$)/.test(normal)) return inFolder("self", normal.slice(1));
  return parseRepository(trimmed);
}

function parseImage(image: string): ActionReference | ReferenceProblem {
  if (image === "" || /\s/.test(image) || image.startsWith("-")) {
    return { message: `The action names no image: "docker://${image.slice(0, 80)}"` };
  }
  return { kind: "action", source: "image", image };
}

function inFolder(source: "workspace" | "self", path: string): ActionReference | ReferenceProblem {
  const dir = parts(path).join("/");
  return dir.split("/").includes("..")
    ? { message: `The path of the action leaves its ${source === "self" ? "repository" : "workspace"}: "${path}"` }
    : { kind: "action", source, dir };
}

function parts(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function parseRepository(text: string): ActionReference | ReferenceProblem {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  const at = text.lastIndexOf("@");
  const isUser = isUrl && at < text.indexOf("/", text.indexOf("://") + 3);
  if (at === -1 || isUser) {
    return {
      message: `The action names no version: "${publicUrl(text)}"`,
      hint: `Write ${publicUrl(text)}@REF with a branch, tag or full commit, or ./ before a folder.`,
    };
  }
  const version = text.slice(at + 1);
  const problem = versionProblem(version);
  if (problem !== undefined) return problem;
  if (SHORT_COMMIT.test(version) && /\d/.test(version) && /[a-f]/.test(version)) {
    return {
      message: `The action names a short commit: "${version}"`,
      hint: "Write all 40 digits, as another commit may begin like it.",
    };
  }
  const location = text.slice(0, at);
  return isUrl ? fromUrl(location, version) : fromName(location, version);
}

function fromName(location: string, version: string): ActionReference | ReferenceProblem {
  const [owner = "", name = "", ...dir] = location.split("/");
  if (!OWNER.test(owner) || !REPOSITORY.test(name) || name === "." || name === "..") {
    return {
      message: `The action names no repository: "${location.slice(0, 120)}"`,
      hint: "Write owner/repo@ref, or the URL of a repository on another host.",
    };
  }
  return inRepository({ url: `${ACTION_HOST}/${owner}/${name}`, repository: `${owner}/${name}` }, dir, version);
}

function fromUrl(location: string, version: string): ActionReference | ReferenceProblem {
  const problem = gitUrlProblem(location);
  if (problem !== undefined) return problem;
  const { host, pathname } = new URL(location);
  const start = location.indexOf(pathname, location.indexOf("://") + 3);
  const [repositoryPath, dir] = splitPath(location.slice(start), host);
  const repository = repositoryPath.replace(/^\/+|\/+$|\.git$/g, "");
  return inRepository({ url: location.slice(0, start) + repositoryPath, repository }, dir, version);
}

function splitPath(path: string, host: string): [string, string[]] {
  const double = path.indexOf("//", 1);
  if (double !== -1) return [path.slice(0, double), path.slice(double + 2).split("/")];
  const dotGit = /\.git(?=\/)/.exec(path);
  if (dotGit !== null) {
    const end = dotGit.index + ".git".length;
    return [path.slice(0, end), path.slice(end).split("/")];
  }
  if (host !== "github.com") return [path.replace(/\/+$/, ""), []];
  const [, owner = "", name = "", ...dir] = path.split("/");
  return [`/${owner}/${name}`, dir];
}

function inRepository(
  of: Pick<RepositoryAction, "url" | "repository">,
  dirParts: readonly string[],
  version: string,
): ActionReference | ReferenceProblem {
  const dir = parts(dirParts.join("/")).join("/");
  if (dir.split("/").includes("..")) return { message: `The path of the action leaves its repository: "${dir}"` };
  return { kind: "action", source: "repository", ...of, version, dir };
}

/** The text of an action's name, without credentials; `parseActionReference()` reads it back to the same. */
export function formatAction(action: ActionReference): string {
  switch (action.source) {
    case "image":
      return `docker://${action.image}`;
    case "workspace":
      return action.dir === "" ? "./" : `./${action.dir}`;
    case "self":
      return `$/${action.dir}`;
    case "repository": {
      const { url, repository, version, dir } = action;
      if (url === `${ACTION_HOST}/${repository}`) {
        return `${repository}${dir === "" ? "" : `/${dir}`}@${version}`;
      }
      return `${publicUrl(url)}${dir === "" ? "" : `//${dir}`}@${version}`;
    }
  }
}
