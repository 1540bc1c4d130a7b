import { join } from "node:path";
import { scopePart } from "../auth/runtime-token.ts";
import { chunksOf, contentLength, readJsonObject } from "../http/body.ts";
import type { HttpContext, Route } from "../http/context.ts";
import { badRequest, notFound, tooLarge } from "../http/http-error.ts";
import { parseContentRange } from "../http/ranges.ts";
import { sendFile, sendJson } from "../http/send.ts";
import type { ServiceLimits } from "../options.ts";
import { openPlainFile } from "../store/files.ts";
import { checkArtifactName, itemSegments } from "./artifact-name.ts";
import type { ArtifactParts, ArtifactProtocol } from "./artifact-protocol.ts";
import type { Container } from "./container.ts";
import { createContainer } from "./container.ts";
import { md5Check } from "./md5-check.ts";

const ARTIFACTS = /^\/_apis\/pipelines\/workflows\/[^/]+\/artifacts$/;
const CONTAINER = /^\/_apis\/resources\/Containers\/(\d{1,9})$/;
const ITEM = /^\/_apis\/resources\/Containers\/(\d{1,9})\/item$/;

/**
 * The first protocol of artifacts: a container of files, sent in ranges of theirs, plain or packed with gzip. Used by
 * actions/upload-artifact and actions/download-artifact up to v3.
 */
export function createArtifactV3(parts: ArtifactParts, baseUrl: string): ArtifactProtocol {
  const containers = new Map<number, Container>();
  const byName = (name: string): Container | undefined => [...containers.values()].find((one) => one.name === name);
  const containerOf = ({ params }: HttpContext): Container => {
    const container = containers.get(Number(params[0]));
    if (container === undefined) throw notFound("There is no container of this number");
    return container;
  };
  const described = (container: Container): Record<string, unknown> => describe(container, baseUrl, parts.runId);
  const routes: Route[] = [
    {
      method: "POST",
      path: ARTIFACTS,
      handle: async ({ request, response, limits }) => {
        const name = await readName(request, limits);
        // Several uploads may add to one artifact.
        const before = byName(name);
        if (before === undefined && containers.size >= limits.maxArtifacts) throw tooLarge("Too many artifacts");
        const container = before ?? createContainer(parts, { id: parts.registry.nextId(), name });
        containers.set(container.id, container);
        sendJson(response, 201, described(container));
      },
    },
    {
      method: "PATCH",
      path: ARTIFACTS,
      handle: async ({ request, response, url, limits }) => {
        await readJsonObject(request, limits.maxJsonBytes);
        const container = byName(url.searchParams.get("artifactName") ?? "");
        if (container === undefined) throw notFound("There is no artifact of this name");
        await container.publish();
        sendJson(response, 200, described(container));
      },
    },
    {
      method: "GET",
      path: ARTIFACTS,
      handle: async ({ response }) => {
        const value = [...containers.values()].filter((one) => one.isPublished()).map(described);
        sendJson(response, 200, { count: value.length, value });
      },
    },
    { method: "PUT", path: CONTAINER, handle: async (context) => await receiveItem(containerOf(context), context) },
    {
      method: "GET",
      path: CONTAINER,
      handle: async (context) => {
        const value = describeItems(containerOf(context), { baseUrl, prefix: itemPathOf(context) });
        sendJson(context.response, 200, { count: value.length, value });
      },
    },
    { method: "GET", path: ITEM, handle: async (context) => await giveItem(containerOf(context), context) },
  ];
  return {
    routes,
    prune: async () => {
      for (const container of containers.values()) await container.prune();
    },
    close: async () => {
      for (const container of containers.values()) await container.close();
    },
  };
}

async function readName(
  request: HttpContext["request"],
  { maxJsonBytes }: Pick<ServiceLimits, "maxJsonBytes">,
): Promise<string> {
  const { Name: name } = await readJsonObject(request, maxJsonBytes);
  if (typeof name !== "string") throw badRequest(`"Name" is not a text`);
  checkArtifactName(name);
  return name;
}

function describe(container: Container, baseUrl: string, runId: string): Record<string, unknown> {
  return {
    containerId: container.id,
    name: container.name,
    type: "actions_storage",
    size: container.isPublished() ? container.bytes() : -1,
    signedContent: null,
    fileContainerResourceUrl: containerUrl(baseUrl, container.id),
    url: `${baseUrl}_apis/pipelines/workflows/${scopePart(runId)}/artifacts`,
  };
}

function itemPathOf({ url }: HttpContext): string {
  return url.searchParams.get("itemPath") ?? "";
}

function containerUrl(baseUrl: string, id: number): string {
  return `${baseUrl}_apis/resources/Containers/${id}`;
}

async function receiveItem(container: Container, context: HttpContext): Promise<void> {
  const { request, response } = context;
  const segments = itemSegments(container.name, itemPathOf(context));
  const range = parseContentRange(request.headers["content-range"]);
  if (range?.total === undefined) throw badRequest("Content-Range is missing or cannot be");
  const isChunked = request.headers["content-length"] === undefined;
  if (!isChunked && contentLength(request) !== range.end - range.start) {
    throw badRequest("Content-Length and Content-Range do not agree");
  }
  const { start, end, total } = range;
  const expandedBytes = expandedSize(context);
  const check = md5Check(request.headers["x-actions-results-md5"]);
  await container.write(segments, { start, end, total, expandedBytes, body: chunksOf(request), check });
  sendJson(response, 201, {});
}

/** The size of an item that comes packed; undefined for one that comes as it is. */
function expandedSize({ request }: HttpContext): number | undefined {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return undefined;
  if (encoding !== "gzip") throw badRequest("Only gzip is understood");
  const header = request.headers["x-tfs-filelength"];
  if (typeof header !== "string" || !/^\d{1,15}$/.test(header))
    throw badRequest("A packed item needs x-tfs-filelength");
  return Number(header);
}

function describeItems(
  container: Container,
  options: { readonly baseUrl: string; readonly prefix: string },
): readonly Record<string, unknown>[] {
  return container
    .items()
    .map(([path, bytes]) => ({ path: `${container.name}/${path}`, bytes }))
    .filter(({ path }) => path.startsWith(options.prefix))
    .map(({ path, bytes }) => ({
      containerId: container.id,
      path,
      itemType: "file",
      status: "created",
      fileLength: bytes,
      contentLocation: `${containerUrl(options.baseUrl, container.id)}/item?itemPath=${encodeURIComponent(path)}`,
    }));
}

async function giveItem(container: Container, context: HttpContext): Promise<void> {
  const segments = itemSegments(container.name, itemPathOf(context));
  const dir = container.publishedDir();
  const bytes = new Map(container.items()).get(segments.join("/"));
  const file = dir === undefined || bytes === undefined ? undefined : await openPlainFile(join(dir, ...segments));
  if (file === undefined) throw notFound("There is no such item");
  try {
    if (file.size !== bytes) throw notFound("The item is no longer what it was");
    const etag = `${container.id}-${bytes}`;
    const answer = { type: "application/octet-stream", etag, modifiedAtMs: container.createdAtMs };
    await sendFile(context.request, context.response, { ...file, answer });
  } finally {
    await file.handle.close();
  }
}
