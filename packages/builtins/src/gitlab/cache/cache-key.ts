import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { posix } from "node:path";
import type { Value } from "@steps/model";
import type { ZipSource } from "@steps/transfer/archive";
import { CheckoutGit } from "../../checkout/checkout-git.ts";
import { type BuiltinPlace, invalid } from "../../images/builtin-images.ts";
import { collectFiles } from "../files/collect-files.ts";
import { objectOf, optionalText, stringList } from "../gitlab-step.ts";

const NO_FILES = "default";

/**
 * The key of a cache: a text, or made of the content (`files`) or the last commits (`files_commits`) of files, with the
 * `prefix` or the names of the files before it. Files that are not there do not count; without any, `default` is in the
 * place of their digest.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for a key that names no folder
 */
export async function cacheKey(key: Value, place: BuiltinPlace): Promise<string> {
  if (typeof key === "string") return cleanKey(key === "" ? "default" : key);
  const spec = objectOf(key, "key");
  const [files, commits] = [
    stringList(spec["files"] ?? [], "key:files"),
    stringList(spec["files_commits"] ?? [], "key"),
  ];
  const names = files.length > 0 ? files : commits;
  const ids = files.length > 0 ? contentIds(files, place) : await commitIds(commits, place);
  const unique = [...new Set(ids)].toSorted();
  const digest = unique.length === 0 ? NO_FILES : createHash("sha1").update(unique.join("-")).digest("hex");
  const prefix = optionalText(spec, "prefix") || names.map((name) => posix.basename(name)).join("_");
  return cleanKey(`${prefix}-${digest}`);
}

/**
 * The folder that a key stands for, as GitLab's runner reads it: `%2F` and `\` are slashes, dots lead nowhere.
 *
 * @throws {BuiltinError} BUILTIN_FAILED when nothing is left
 */
export function cleanKey(key: string): string {
  const decoded = key.replaceAll(/%2f/gi, "/").replaceAll(/%2e/gi, ".").replaceAll("\\", "/");
  const clean = posix.normalize(`/${decoded}`).replace(/^\/+|[/\s]+$/g, "");
  if (clean === "" || clean.includes("\0")) throw invalid(`the key ${JSON.stringify(key)} names no cache`);
  return clean;
}

/** The ids that git gives to the content of files. */
function contentIds(patterns: readonly string[], { workDir }: BuiltinPlace): string[] {
  const nothing = (): void => undefined;
  const request = { root: workDir, paths: patterns, exclude: [], stores: [], log: nothing, warn: nothing };
  return collectFiles(request)
    .filter(({ type }) => type !== "dir")
    .map(blobId);
}

function blobId({ path, type }: ZipSource): string {
  const content = type === "link" ? Buffer.from(readlinkSync(path)) : readFileSync(path);
  return createHash("sha1").update(`blob ${content.byteLength}\0`).update(content).digest("hex");
}

/** The last commits that changed files. */
async function commitIds(paths: readonly string[], { env, workDir, log }: BuiltinPlace): Promise<string[]> {
  if (paths.length === 0) return [];
  return await CheckoutGit.with({ env, workDir, log, setOutput() {} }, [workDir], async (git) => {
    const ids: string[] = [];
    for (const path of paths) {
      const args = ["-C", workDir, "log", "--max-count=1", "--format=%H", "--", path];
      const id = await git.run(args, { action: `find the last commit of "${path}"` });
      if (id !== "") ids.push(id);
    }
    return ids;
  });
}
