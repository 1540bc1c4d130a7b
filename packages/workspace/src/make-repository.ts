import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Ref, Repository } from "./read-repository.ts";

/**
 * Makes a repository in a folder with the same branch, index, branches, tags and remote as another, whose objects it shares. It is
 * written file by file, as gitrepository-layout(5) has it: the same by `git clone` takes several processes.
 *
 * @param target - The folder of the working tree: absolute, with no repository in it.
 */
export async function makeRepository(repository: Repository, target: string): Promise<void> {
  const { head, index, objects, shallow, refs } = repository;
  const dir = join(target, ".git");
  await Promise.all(["objects/info", "objects/pack", "refs/heads", "refs/tags"].map((path) => makeFolder(dir, path)));
  const links = refs.filter(isDefaultBranch);
  await Promise.all([
    writeFile(join(dir, "HEAD"), head),
    writeFile(join(dir, "config"), configOf(repository)),
    writeFile(join(dir, "objects/info/alternates"), `${quoted(objects)}\n`),
    writeFile(
      join(dir, "packed-refs"),
      refs
        .filter((ref) => !links.includes(ref))
        .map(packed)
        .join(""),
    ),
    ...links.map((ref) => writeLink(dir, ref)),
    ifThere(copyFile(index, join(dir, "index"))),
    ifThere(copyFile(shallow, join(dir, "shallow"))),
  ]);
}

function makeFolder(dir: string, path: string): Promise<unknown> {
  return mkdir(join(dir, path), { recursive: true });
}

// The branch that a remote starts from. Other names that stand for a ref become refs of their own.
function isDefaultBranch({ name, target }: Ref): boolean {
  return target !== undefined && /^refs\/remotes\/(?!\.+\/)[^/]+\/HEAD$/.test(name);
}

async function writeLink(dir: string, { name, target }: Ref): Promise<void> {
  await makeFolder(dir, dirname(name));
  await writeFile(join(dir, name), `ref: ${target}\n`);
}

function packed({ id, name }: Ref): string {
  return `${id} ${name}\n`;
}

function configOf({ head, objectFormat, originUrl }: Repository): string {
  const core = ["[core]", `\trepositoryformatversion = ${objectFormat === "sha1" ? 0 : 1}`, "\tbare = false"];
  const extensions = objectFormat === "sha1" ? [] : ["[extensions]", `\tobjectformat = ${objectFormat}`];
  return [...core, ...extensions, ...remoteConfig(originUrl, head), ""].join("\n");
}

function remoteConfig(url: string | undefined, head: string): string[] {
  if (url === undefined) return [];
  const branch = /^ref: refs\/heads\/(.+)$/m.exec(head)?.[1];
  const remote = ['[remote "origin"]', `\turl = ${configText(url)}`, "\tfetch = +refs/heads/*:refs/remotes/origin/*"];
  if (branch === undefined) return remote;
  const name = branch.replaceAll(/["\\]/g, String.raw`\$&`);
  return [...remote, `[branch "${name}"]`, "\tremote = origin", `\tmerge = ${configText(`refs/heads/${branch}`)}`];
}

// Programs that read the file themselves may not know quotation marks, so they stand only where git needs them.
function configText(text: string): string {
  if (/^[^\s"\\;#][^"\\;#\n\t]*(?<! )$/.test(text)) return text;
  const escaped = text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `"${escaped.replaceAll("\t", String.raw`\t`)}"`;
}

// Git reads a path that starts with a quotation mark as C does.
function quoted(path: string): string {
  return /^["#]|\n/.test(path) ? JSON.stringify(path) : path;
}

async function ifThere(copying: Promise<void>): Promise<void> {
  await copying.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
