import { join } from "node:path";
import { publicUrl } from "@steps/model/reference";
import type { FileRequest, LoadedFile, LoadFailure } from "@steps/model/include";
import type { IncludesState } from "./create-includes.ts";
import { readFileIn } from "./folder-files.ts";

/** The templates of the newest GitLab. */
const TEMPLATES = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/lib/gitlab/ci/templates/";

/** The word for the folder of templates among the folders that stand for projects. */
const TEMPLATE_FOLDER = "template";

/** Loads a file at a URL. It belongs to no project, so it cannot include local files. */
export async function loadRemote(
  { url, integrity }: Extract<FileRequest, { readonly kind: "remote" }>,
  { options, fetches, record }: IncludesState,
): Promise<LoadedFile | LoadFailure> {
  const isPlain = /^http:/i.test(url);
  if (isPlain && integrity === undefined && options.allowsHttp !== true) {
    return {
      problem: "Over plain HTTP anybody on the way can change it",
      hint: "Write https:, give its integrity, or allow it with --include-http.",
    };
  }
  const found = await fetches.file(url, integrity === undefined ? undefined : hexOf(integrity));
  if ("problem" in found) return found;
  record({ name: publicUrl(url), digest: { sha256: found.sha256 } });
  return { source: found.source };
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.slice("sha256-".length), "base64").toString("hex");
}

/** Loads one of GitLab's templates, from gitlab.com or from a folder that stands for them. */
export async function loadTemplate(
  name: string,
  { options: { folders = {} }, fetches, record }: IncludesState,
): Promise<LoadedFile | LoadFailure> {
  const folder = folders[TEMPLATE_FOLDER];
  const found =
    folder === undefined
      ? await fetches.file(TEMPLATES + encodeURI(name))
      : readFileIn(folder, name, join(folder, name));
  if ("problem" in found) {
    const hint = "Its templates come from gitlab.com; --mirror and --include-map template=FOLDER name other places.";
    return { problem: found.problem, hint: found.hint ?? hint };
  }
  record({ name: `template:${name}`, digest: { sha256: found.sha256 } });
  return { source: { ...found.source, name: `template:${name}` } };
}
