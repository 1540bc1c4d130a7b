import type { ComponentFacts, LoadedFile, LoadFailure } from "@steps/model/include";
import {
  type ComponentAddress,
  isRange,
  isVersion,
  newestTag,
  parseComponentAddress,
  pathsOfComponent,
} from "./component-address.ts";
import type { IncludesState } from "./create-includes.ts";
import { readFileIn } from "./folder-files.ts";
import type { Tree } from "./project-trees.ts";

/** Loads the file of a component of the catalog: `templates/NAME.yml`, or else `templates/NAME/template.yml`. */
export async function loadComponent(text: string, state: IncludesState): Promise<LoadedFile | LoadFailure> {
  const address = parseComponentAddress(text);
  if ("problem" in address) return address;
  const found = await findVersion(address, state);
  if ("problem" in found) return found;
  const { tree, version } = found;
  const { name, reference } = address;
  for (const path of pathsOfComponent(name)) {
    const read = readFileIn(tree.dir, path, tree.nameOf(path));
    if ("problem" in read) {
      if (read.problem === "The file does not exist") continue;
      return read;
    }
    const { source, sha256 } = read;
    const { commit } = tree;
    state.record({ name: source.name, digest: commit === undefined ? { sha256 } : { gitCommit: commit } });
    const component: ComponentFacts = { name, sha: commit ?? state.options.commit ?? "", version, reference };
    return { source, context: tree.context, component };
  }
  return { problem: `The project ${address.project} has neither ${pathsOfComponent(name).join(" nor ")}` };
}

interface FoundVersion {
  readonly tree: Tree;
  /** `null` for a branch or a commit. */
  readonly version: string | null;
}

// A commit, a tag or a branch of the very name comes before a version that the name is a part of.
async function findVersion(address: ComponentAddress, { trees }: IncludesState): Promise<FoundVersion | LoadFailure> {
  const { host, project, reference } = address;
  const exact = await trees.fetch({ host, project, ref: reference });
  if (!("problem" in exact)) return { tree: exact, version: isVersion(reference) ? reference : null };
  if (!isRange(reference)) return exact;
  const tags = await trees.tags({ host, project });
  if ("problem" in tags) return tags;
  const tag = newestTag(reference, tags);
  if (tag === undefined) {
    const what = reference === "~latest" ? "no version" : `no version ${reference}.x`;
    return { problem: `The project ${project} has ${what}`, hint: "Versions are tags such as 1.2.3." };
  }
  const tree = await trees.fetch({ host, project, ref: tag });
  return "problem" in tree ? tree : { tree, version: tag };
}
