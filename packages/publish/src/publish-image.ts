import { openAsBlob } from "node:fs";
import { readFile } from "node:fs/promises";
import { type HttpAnswer, readBody } from "@steps/transfer";
import { BuildError } from "./build-error.ts";
import { VERSION_ANNOTATION } from "./build-image.ts";
import { checkedBlob, openLayout, readLayoutFile } from "./image-archive.ts";
import {
  ACCEPTED_MANIFESTS,
  type Descriptor,
  endpointOf,
  openRegistry,
  parseManifest,
  parseObject,
  type RegistryClient,
} from "@steps/transfer/registry";
import { tagsOf } from "./version-tags.ts";

/** The options of `publishImage()`. */
export interface PublishOptions {
  /** A folder or archive in the OCI layout. */
  readonly archive: string;
  /** An empty private folder, for an archive to be unpacked in. */
  readonly scratch: string;
  readonly registry: string;
  readonly repository: string;
  /** The one tag to give; without it the version decides, and its shorter tags move with it. */
  readonly tag?: string;
  /** The version, where it is not the image's own. */
  readonly version?: string;
  /** The environment in which credentials are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** A published image, named by its digest and its tags. */
export interface Published {
  /** `sha256:…`. */
  readonly digest: string;
  /** The first is the exact one. */
  readonly tags: readonly string[];
}

interface Upload {
  readonly client: RegistryClient;
  readonly dir: string;
  readonly options: PublishOptions;
}

const MAX_TAG_PAGES = 200;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * Publishes an image of the OCI layout, with all its platforms: first what it is made of, then the manifests, then its
 * exact tag, then the tags that move. A version that is there with the same content is fine, with other content it is
 * not touched.
 *
 * @throws {BuildError} @throws {BuildError} AUTH_FAILED, TRANSPORT, CANCELLED
 */
export async function publishImage(options: PublishOptions): Promise<Published> {
  const { archive, scratch, registry, repository, signal, onProgress } = options;
  const dir = await openLayout(archive, scratch, signal);
  const top = await readTop(dir);
  const client = openRegistry({ env: options.env }, endpointOf(registry, repository), {
    stepEnv: {},
    actions: "pull,push",
  });
  const upload: Upload = { client, dir, options };
  const tags =
    options.tag === undefined ? tagsOf(options.version ?? versionOf(top), await listTags(upload)) : [options.tag];
  const [exact = ""] = tags;
  const existing = await digestOfTag(upload, exact);
  if (existing !== undefined && existing !== top.digest) {
    throw new BuildError(
      "VERSION_EXISTS",
      `Cannot publish "${registry}/${repository}:${exact}": it is there already, with other content`,
      {
        hint: "What was published stays as it is: publish another version.",
      },
    );
  }
  await pushManifest(upload, top, []);
  for (const tag of tags) {
    if (tag === exact && existing === top.digest) continue;
    await putManifest(upload, top, tag);
    onProgress?.(`tagged ${registry}/${repository}:${tag}`);
  }
  return { digest: top.digest, tags };
}

interface Top extends Descriptor {
  readonly version: string | undefined;
}

async function readTop(dir: string): Promise<Top> {
  const layout = parseObject(await readLayoutFile(dir, "oci-layout"));
  if (layout["imageLayoutVersion"] !== "1.0.0") {
    throw new BuildError("ARCHIVE_INVALID", "Cannot publish image: its layout has not the version 1.0.0");
  }
  const index = parseManifest(await readLayoutFile(dir, "index.json"));
  const [top, second] = index.type === "index" ? index.manifests : [];
  if (top === undefined || second !== undefined) {
    throw new BuildError("ARCHIVE_INVALID", "Cannot publish image: the archive must hold exactly one");
  }
  const { annotations = {} } = parseObject(await readFile(await checkedBlob(dir, top.digest), "utf8"));
  const inner = (annotations as Readonly<Record<string, unknown>>)[VERSION_ANNOTATION];
  const version = top.annotations[VERSION_ANNOTATION] ?? (typeof inner === "string" ? inner : undefined);
  return { ...top, version };
}

function versionOf({ version }: Top): string {
  if (version !== undefined) return version;
  throw new BuildError("ARCHIVE_INVALID", `Cannot publish image: it has no version`, {
    hint: `Build it with builtin://function/oci/build, or annotate it with ${VERSION_ANNOTATION}.`,
  });
}

// The contents that a manifest names must be there before the manifest.
async function pushManifest(upload: Upload, descriptor: Descriptor, parents: readonly string[]): Promise<void> {
  const { dir, options } = upload;
  if (parents.length > 3) throw new BuildError("ARCHIVE_INVALID", "Cannot publish image: its indexes lie too deep");
  const path = await checkedBlob(dir, descriptor.digest, { size: descriptor.size, signal: options.signal });
  const manifest = parseManifest(await readFile(path, "utf8"), descriptor.mediaType);
  if (manifest.type === "index") {
    for (const child of manifest.manifests) await pushManifest(upload, child, [...parents, descriptor.digest]);
  } else {
    for (const blob of [...manifest.layers, manifest.config]) await pushBlob(upload, blob);
  }
  await putManifest(upload, descriptor, descriptor.digest);
}

async function pushBlob(upload: Upload, { digest, size }: Descriptor): Promise<void> {
  const { client, dir, options } = upload;
  const { signal, onProgress } = options;
  const { repository } = client.endpoint;
  const path = await checkedBlob(dir, digest, { size, signal });
  const known = await client.send({ path: `${repository}/blobs/${digest}`, method: "HEAD", signal });
  await known.response.body?.cancel();
  if (known.response.ok) return;
  const start = await client.send({ path: `${repository}/blobs/uploads/`, method: "POST", signal });
  const location = start.response.headers.get("location");
  await expectStatus(start, { what: digest, accepted: [202] });
  if (location === null || !URL.canParse(location, start.url))
    throw failed(digest, "the registry names no place for it");
  const target = new URL(location, start.url);
  target.searchParams.set("digest", digest);
  const headers = { "content-type": "application/octet-stream" };
  const body = await openAsBlob(path);
  const end = await client.send({ path: target.href, method: "PUT", headers, body, signal });
  await expectStatus(end, { what: digest, accepted: [201, 204] });
  onProgress?.(`pushed ${digest} (${size} bytes)`);
}

async function putManifest(upload: Upload, descriptor: Descriptor, reference: string): Promise<void> {
  const { client, dir, options } = upload;
  const { digest, mediaType } = descriptor;
  const body = new Uint8Array(await readFile(await checkedBlob(dir, digest)));
  const path = `${client.endpoint.repository}/manifests/${reference}`;
  const headers = { "content-type": mediaType };
  const answer = await client.send({ path, method: "PUT", headers, body, signal: options.signal });
  const stored = answer.response.headers.get("docker-content-digest");
  await expectStatus(answer, { what: reference, accepted: [200, 201, 202] });
  if (stored !== null && stored.startsWith("sha256:") && digest.startsWith("sha256:") && stored !== digest) {
    throw failed(reference, `the registry stored it as ${stored.slice(0, 80)}`);
  }
}

async function digestOfTag({ client, options }: Upload, tag: string): Promise<string | undefined> {
  const path = `${client.endpoint.repository}/manifests/${tag}`;
  const headers = { accept: ACCEPTED_MANIFESTS };
  const { response } = await client.send({ path, method: "HEAD", headers, signal: options.signal });
  await response.body?.cancel();
  if (response.status === 404) return undefined;
  if (!response.ok) throw failed(tag, `the registry answered ${response.status}`);
  return response.headers.get("docker-content-digest") ?? "unknown";
}

// A repository that nothing was published to has no tags, and may not be there.
async function listTags({ client, options }: Upload): Promise<string[]> {
  const { repository } = client.endpoint;
  const tags: string[] = [];
  let path: string | undefined = `${repository}/tags/list?n=1000`;
  for (let page = 0; path !== undefined; page += 1) {
    if (page >= MAX_TAG_PAGES) throw failed(repository, "it has too many tags");
    const answer = await client.send({ path, signal: options.signal });
    const text = await readText(answer, options.signal);
    if (answer.response.status === 404) return tags;
    if (!answer.response.ok) throw failed(repository, `the registry answered ${answer.response.status} for its tags`);
    const found = parseObject(text)["tags"];
    if (Array.isArray(found)) tags.push(...found.filter((tag): tag is string => typeof tag === "string"));
    const next = /<([^>]+)>\s*;\s*rel="?next"?/i.exec(answer.response.headers.get("link") ?? "")?.[1];
    path = next !== undefined && URL.canParse(next, answer.url) ? new URL(next, answer.url).href : undefined;
  }
  return tags;
}

async function readText(answer: HttpAnswer, signal: AbortSignal | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readBody(answer, { maxBytes: MAX_PAGE_BYTES, signal })) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function expectStatus(
  answer: HttpAnswer,
  { what, accepted }: { what: string; accepted: readonly number[] },
): Promise<void> {
  const { response } = answer;
  if (accepted.includes(response.status)) {
    await response.body?.cancel();
    return;
  }
  const detail = (await readText(answer, undefined).catch(() => "")).slice(0, 1000);
  const code = /"code"\s*:\s*"([A-Z_]{1,40})"/.exec(detail)?.[1];
  if (response.status === 403) {
    throw new BuildError("AUTH_FAILED", `Cannot publish ${what}: the registry answered 403`, {
      hint: "The credentials must allow to push.",
    });
  }
  throw failed(what, `the registry answered ${response.status}${code === undefined ? "" : ` ${code}`}`);
}

function failed(what: string, problem: string): BuildError {
  return new BuildError("PUBLISH_FAILED", `Cannot publish ${what}: ${problem}`);
}
