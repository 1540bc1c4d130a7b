import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isStepsError, type Value } from "@steps/model";
import { formatImageName, isDigest, type ImageName, parseImageName } from "@steps/model/image";
import { BuildError, type BuildPlatform, buildImageArchive, type FileMap, publishImageArchive } from "@steps/publish";
import { BuiltinError } from "../builtin-error.ts";

export type Inputs = Readonly<Record<string, Value>>;
export type Outputs = Readonly<Record<string, Value>>;

/** The place in which a built-in step runs. */
export interface BuiltinPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workDir: string;
  readonly log: (line: string) => void;
  /** The phase of a program that stands in for a GitHub action; `main` for other steps. */
  readonly phase?: string;
}

/** `function/oci/build`: an archive with the files of each platform. */
export async function buildFunction(inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  const version = textOf(inputs, "version");
  const archive = textOf(inputs, "archive");
  const labels = stringsOf(inputs["labels"] ?? {}, "labels");
  const { digest } = await build(inputs, place, { version, archive, labels, isSourceFirst: false });
  place.log(`built ${archive} ${digest}`);
  return { archive, version, digest };
}

/** `function/oci/publish`: the archive's image with the tags of its version. */
export async function publishFunction(inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  const { registry, repository } = repositoryOf(textOf(inputs, "to_repository"));
  const archive = resolve(place.workDir, textOf(inputs, "archive"));
  const { env, log } = place;
  const { digest, tags } = await publishImageArchive({ archive, registry, repository, env, onProgress: log });
  const ref = formatImageName({ registry, repository, tag: tags[0] ?? digest });
  log(`published ${ref} ${digest}`);
  return { ref, digest, tags: [...tags] };
}

/**
 * The step `step/oci/build` of 2025: it builds and publishes under one tag, and its `files` map in the opposite
 * direction (conformance section 20 C21).
 */
export async function buildAndPush(inputs: Inputs, place: BuiltinPlace): Promise<Outputs> {
  const { tag, ...name } = builtImageOf(inputs);
  const scratch = await mkdtemp(join(tmpdir(), "steps-build-"));
  try {
    const archive = join(scratch, "image.tar");
    const version = /^\d+\.\d+\.\d+(?:-[0-9a-zA-Z.-]+)?$/.test(tag) ? tag : "0.0.0-unversioned";
    await build(inputs, place, { version, archive, labels: {}, isSourceFirst: true });
    const { env, log } = place;
    const { digest } = await publishImageArchive({ ...name, archive, tag, env, onProgress: log });
    const [algorithm = "", hash = ""] = digest.split(":");
    const ref = formatImageName({ ...name, tag });
    log(`published ${ref} ${digest}`);
    return { ...name, tag, image: ref, ref, digest: { algorithm, hash, value: digest } };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

// Until v0.13 in three parts, since v0.14 in one.
function builtImageOf(inputs: Inputs): ImageName {
  if (inputs["image"] === "") {
    return {
      ...repositoryOf(`${textOf(inputs, "registry")}/${textOf(inputs, "repository")}`),
      tag: textOf(inputs, "tag"),
    };
  }
  const parts = ["registry", "repository", "tag"].filter((name) => inputs[name] !== "");
  if (parts.length > 0) throw invalid(`image and ${parts.join(", ")} say the same: give one of them`);
  return imageOf(textOf(inputs, "image"), "image");
}

/** An image with a tag or a digest. @throws {BuiltinError} BUILTIN_FAILED */
export function imageOf(text: string, input: string): ImageName {
  const parsed = parseImageName(text.trim(), { hasRegistry: true });
  if ("message" in parsed) throw invalid(`${input}: ${parsed.message}`);
  if (!hasTag(text)) throw invalid(`${input} must have a tag or a digest`);
  if (isDigest(parsed.tag) && (input === "image" || input === "to_image"))
    throw invalid(`${input} cannot have a digest`);
  return parsed;
}

/** Whether the name of an image has a tag or a digest. */
export function hasTag(text: string): boolean {
  return /[@:][^/]*$/.test(text.trim());
}

interface BuildRequest {
  readonly version: string;
  readonly archive: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether files are given as source and destination, as in 2025. */
  readonly isSourceFirst: boolean;
}

async function build(inputs: Inputs, place: BuiltinPlace, request: BuildRequest): Promise<{ digest: string }> {
  const { isSourceFirst, archive, version, labels } = request;
  const common = readFiles(inputs["common"] ?? {}, "common", isSourceFirst);
  const platforms = Object.entries(objectOf(inputs["platforms"] ?? {}, "platforms")).map(([name, value]) =>
    readPlatform(name, objectOf(value, `platforms: "${name}"`), isSourceFirst),
  );
  const epoch = place.env["SOURCE_DATE_EPOCH"] ?? "";
  const createdAtS = /^\d{1,12}$/.test(epoch) ? Number(epoch) : 0;
  const options = { version, common, platforms, labels, baseDir: place.workDir, createdAtS };
  try {
    return await buildImageArchive(resolve(place.workDir, archive), options);
  } catch (error) {
    throw explainDirection(error, [common, ...platforms.map(({ files }) => files)], { place, isSourceFirst });
  }
}

// The two generations give the same map in opposite directions, and nothing but the disk shows it.
function explainDirection(
  error: unknown,
  maps: readonly FileMap[],
  { place, isSourceFirst }: { place: BuiltinPlace; isSourceFirst: boolean },
): unknown {
  if (!isStepsError(error) || !(error instanceof BuildError) || error.code !== "FILES_INVALID") return error;
  const pairs = maps.flatMap((map) => Object.entries(map));
  const isThere = (path: string): boolean => existsSync(resolve(place.workDir, path));
  const isSwapped = pairs.every(([to, from]) => !isThere(from) && isThere(to));
  if (!isSwapped || pairs.length === 0) return error;
  const rule = isSourceFirst
    ? "step/oci/build takes source: destination; function/oci/build takes destination: source"
    : "function/oci/build takes destination: source; step/oci/build takes source: destination";
  return new BuildError(error.code, error.message, {
    cause: error,
    hint: `The direction of files may be swapped: ${rule}.`,
  });
}

function readPlatform(name: string, value: Readonly<Record<string, Value>>, isSourceFirst: boolean): BuildPlatform {
  const [os = "", architecture = "", inName, ...more] = name.split("/");
  const text = (key: string): string | undefined => {
    const found = value[key];
    return typeof found === "string" && found !== "" ? found : undefined;
  };
  const variant = text("variant") ?? inName;
  const osVersion = text("os.version");
  const features = value["os.features"];
  if (os === "" || architecture === "" || more.length > 0) {
    throw invalid(`platforms: "${name}" is not OS/ARCHITECTURE`);
  }
  return {
    os,
    architecture,
    files: readFiles(value, `platforms: "${name}"`, isSourceFirst),
    variant,
    osVersion,
    ...(Array.isArray(features) ? { osFeatures: features.map(String) } : {}),
  };
}

function readFiles(value: Value, what: string, isSourceFirst: boolean): FileMap {
  const files = Object.entries(stringsOf(objectOf(value, what)["files"] ?? {}, `${what}: files`));
  const pairs = files.map(([left, right]) => (isSourceFirst ? ([right, left] as const) : ([left, right] as const)));
  const twice = pairs.find(([to], index) => pairs.findIndex(([other]) => other === to) !== index);
  if (twice !== undefined) throw invalid(`${what}: two sources go to "${twice[0]}"`);
  return Object.fromEntries(pairs);
}

/** REGISTRY/REPOSITORY without a tag. @throws {BuiltinError} BUILTIN_FAILED */
export function repositoryOf(text: string): Omit<ImageName, "tag"> {
  const bare = text.trim().replace(/^oci:\/\//, "");
  const parsed = parseImageName(bare, { hasRegistry: true });
  if ("message" in parsed)
    throw new BuiltinError("BUILTIN_FAILED", `Cannot publish: ${parsed.message}`, { hint: parsed.hint });
  if (isDigest(parsed.tag) || bare.endsWith(`:${parsed.tag}`)) throw invalid("the repository has a tag or digest");
  return { registry: parsed.registry, repository: parsed.repository };
}

/** An input that must not be empty. @throws {BuiltinError} BUILTIN_FAILED */
export function textOf(inputs: Inputs, name: string): string {
  const value = inputs[name];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`the input "${name}" is empty`);
}

function objectOf(value: Value, what: string): Readonly<Record<string, Value>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid(`${what} must be an object`);
}

function stringsOf(value: Value, what: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectOf(value, what));
  const wrong = entries.find(([, item]) => typeof item !== "string");
  if (wrong !== undefined) throw invalid(`${what}: "${wrong[0]}" must be a string`);
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Makes the error for a wrong input of a built-in step. */
export function invalid(problem: string): BuiltinError {
  return new BuiltinError("BUILTIN_FAILED", `Cannot run built-in step: ${problem}`);
}
