import { basename, join } from "node:path";
import type { Value } from "@steps/model";
import { type WrittenZip, writeZip, type ZipSource } from "@steps/transfer/archive";
import { type BuiltinPlace, type Inputs, invalid, textOf } from "../../images/builtin-images.ts";
import { collectFiles } from "../files/collect-files.ts";
import { compressionLevel } from "../files/compression.ts";
import { untrackedFiles } from "../files/untracked-files.ts";
import {
  countFiles,
  formatBytes,
  type GitlabResult,
  objectOf,
  optionalText,
  stringList,
  warn,
} from "../gitlab-step.ts";
import { entryPath, publishEntry } from "../store/entry-store.ts";
import { ARTIFACT_FILES, storeReport, storeVariables } from "./artifact-store.ts";
import { readDotenvFiles } from "./parse-dotenv.ts";

/** The reports of a job: their files by type. */
type Reports = ReadonlyMap<string, readonly ZipSource[]>;

// The time that all files have in an archive, so that the same files give the same digest.
const NO_TIME = new Date(0);

/**
 * `gitlab/artifacts-upload`: keeps files of the job for later jobs and for the user, in place of those that the job has
 * kept before.
 */
export async function uploadArtifacts(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  if (optionalText(inputs, "server_url") !== "") return await uploadToServer(inputs, place);
  const job = textOf(inputs, "job");
  const entry = entryPath(textOf(inputs, "artifacts_dir"), job);
  const { type, packed } = formOf(inputs);
  const collect = collectorOf(inputs, place);
  const untracked = inputs["untracked"] === true ? await untrackedFiles(place) : undefined;
  const found = collect(stringList(inputs["paths"] ?? [], "paths"), untracked);
  const files = type === "archive" ? found : [];
  const reports = new Map<string, readonly ZipSource[]>(reportsOf(inputs, collect));
  if (type !== "archive") reports.set(type, found);
  const level = compressionLevel(inputs, place);
  let digest = "";
  let size = 0;
  await publishEntry(entry, {
    keep: [ARTIFACT_FILES.dotenv, ARTIFACT_FILES.release],
    async write(dir) {
      const zip = files.length === 0 ? undefined : await pack(join(dir, ARTIFACT_FILES.archive), files, level);
      if (zip !== undefined) [digest, size] = [`sha256:${zip.digest}`, zip.size];
      const stored = await storeReports(dir, reports, packed);
      return {
        job,
        name: optionalText(inputs, "name"),
        digest,
        size,
        files: files.length,
        expireIn: optionalText(inputs, "expire_in"),
        createdAt: new Date().toISOString(),
        reports: stored,
      };
    },
  });
  if (digest === "") warn(place, "No files to upload: the job leaves no archive");
  else place.log(`Kept ${countFiles(files.length)} of job "${job}": ${formatBytes(size)}, ${digest}`);
  const archive = digest === "" ? "" : `${basename(entry)}/${ARTIFACT_FILES.archive}`;
  return { outputs: { archive, digest, size, files: files.length } };
}

/** The same to a server, which keeps the archive or one report. */
async function uploadToServer(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const { type } = formOf(inputs);
  const untracked = inputs["untracked"] === true ? await untrackedFiles(place) : undefined;
  const files = collectorOf(inputs, place)(stringList(inputs["paths"] ?? [], "paths"), untracked);
  if (files.length === 0) {
    warn(place, "No files to upload");
    return { outputs: { archive: "", digest: "", size: 0, files: 0 } };
  }
  const level = compressionLevel(inputs, place);
  const { sendFiles } = await import("./send-files.ts");
  return { outputs: await sendFiles(inputs, { place, files, type, pack: (path) => pack(path, files, level) }) };
}

type Collect = (paths: readonly string[], untracked?: readonly string[]) => ZipSource[];

function collectorOf(inputs: Inputs, place: BuiltinPlace): Collect {
  return (paths, untracked) =>
    collectFiles({
      root: place.workDir,
      paths,
      exclude: stringList(inputs["exclude"] ?? [], "exclude"),
      untracked,
      stores: [optionalText(inputs, "artifacts_dir")].filter((dir) => dir !== ""),
      log: place.log,
      warn: (line) => warn(place, line),
    });
}

/** The type of what `paths` are, and the type of report that is packed, if any. */
function formOf(inputs: Inputs): { type: string; packed: string | undefined } {
  const type = optionalText(inputs, "type");
  const format = optionalText(inputs, "format");
  if (!/^[a-z][a-z0-9_]*$/.test(type)) throw invalid(`type "${type}" is no type of artifacts`);
  const formats = type === "archive" ? ["", "zip"] : ["", "raw", "gzip"];
  if (formats.includes(format)) return { type, packed: format === "gzip" ? type : undefined };
  throw invalid(`format "${format}" is not for type "${type}": use ${formats.slice(1).join(" or ")}`);
}

/** Reports are texts, lists, or for coverage an object with a path. */
function* reportsOf(inputs: Inputs, collect: Collect): Generator<[string, ZipSource[]]> {
  for (const [type, value] of Object.entries(objectOf(inputs["reports"] ?? {}, "reports"))) {
    if (!/^[a-z][a-z0-9_]*$/.test(type)) throw invalid(`reports: "${type}" is no type of report`);
    yield [type, collect(pathsOf(value, `reports: ${type}`))];
  }
}

function pathsOf(value: Value, what: string): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? stringList(value, what) : stringList([objectOf(value, what)["path"] ?? ""], what);
}

async function pack(path: string, files: readonly ZipSource[], level: number): Promise<WrittenZip> {
  return await writeZip(
    path,
    files.map((file) => ({ ...file, modifiedAt: NO_TIME })),
    level,
  );
}

async function storeReports(dir: string, reports: Reports, packed: string | undefined): Promise<Record<string, Value>> {
  const stored: Record<string, Value> = {};
  for (const [type, files] of reports) {
    if (type === "dotenv") storeVariables(dir, readDotenvFiles(files));
    stored[type] = await storeReport(dir, type, { files, isPacked: type === packed });
  }
  return stored;
}
