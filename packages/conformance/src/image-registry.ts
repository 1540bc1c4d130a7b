import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** A file of an image. */
interface ImageFile {
  readonly name: string;
  readonly content: string;
  readonly executable: boolean;
}

/** One image: its platform (`linux/amd64`), and its layers, the lowest first. */
export interface ImageContent {
  readonly platform: string | undefined;
  readonly layers: readonly (readonly ImageFile[])[];
}

/** As much of a registry as a case needs, held in memory: pulls and pushes, without authentication. */
export interface ImageRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Puts images under a tag, several as an index. Gives the digest. */
  put(repository: string, tag: string, images: readonly ImageContent[]): string;
  digestOf(repository: string, reference: string): string | undefined;
  close(): Promise<void>;
}

interface Blob {
  readonly data: Buffer;
  readonly type: string;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";

/** Starts a registry on a free port of the loopback interface. */
export async function startImageRegistry(): Promise<ImageRegistry> {
  const blobs = new Map<string, Blob>();
  const tags = new Map<string, string>();
  const server = createServer((request, response) => {
    answer(request, response, { blobs, tags }).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const add = (data: Buffer, type: string): { mediaType: string; digest: string; size: number } => {
    const digest = sha256(data);
    blobs.set(digest, { data, type });
    return { mediaType: type, digest, size: data.byteLength };
  };
  const addJson = (value: object, type: string): ReturnType<typeof add> =>
    add(Buffer.from(JSON.stringify(value)), type);
  const addImage = ({ platform, layers }: ImageContent): object => {
    const [os, architecture, variant] = platform?.split("/") ?? [];
    const described = platform === undefined ? {} : { os, architecture, variant };
    const config = addJson({ ...described, config: {} }, "application/vnd.oci.image.config.v1+json");
    const packed = layers.map((files) => add(gzipSync(tarOf(files)), "application/vnd.oci.image.layer.v1.tar+gzip"));
    const manifest = addJson({ schemaVersion: 2, mediaType: MANIFEST, config, layers: packed }, MANIFEST);
    return { ...manifest, ...(platform === undefined ? {} : { platform: described }) };
  };
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    put(repository, tag, images) {
      const manifests = images.map(addImage) as { digest: string; platform?: object }[];
      const [only] = manifests;
      const isPlain = manifests.length === 1 && only?.platform === undefined;
      const top = isPlain ? only : addJson({ schemaVersion: 2, mediaType: INDEX, manifests }, INDEX);
      tags.set(`${repository}:${tag}`, top?.digest ?? "");
      return top?.digest ?? "";
    },
    digestOf: (repository, reference) => tags.get(`${repository}:${reference}`),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Store {
  readonly blobs: Map<string, Blob>;
  readonly tags: Map<string, string>;
}

async function answer(request: IncomingMessage, response: ServerResponse, { blobs, tags }: Store): Promise<void> {
  const { method = "GET" } = request;
  const url = new URL(request.url ?? "/", "http://registry");
  const [, repository = "", kind, reference = ""] =
    /^\/v2\/(.+)\/(blobs|manifests|tags)\/(.*)$/.exec(url.pathname) ?? [];
  if (kind === undefined) return void response.writeHead(url.pathname === "/v2/" ? 200 : 404).end();
  if (kind === "tags") {
    const own = [...tags.keys()].filter((name) => name.startsWith(`${repository}:`));
    return void response.end(JSON.stringify({ tags: own.map((name) => name.slice(repository.length + 1)) }));
  }
  if (method === "POST") {
    return void response.writeHead(202, { location: `/v2/${repository}/blobs/uploads/1` }).end();
  }
  if (method === "PUT") {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const data = Buffer.concat(chunks);
    const digest = sha256(data);
    if (kind === "blobs" && url.searchParams.get("digest") !== digest) return void response.writeHead(400).end();
    blobs.set(digest, { data, type: request.headers["content-type"] ?? "" });
    if (kind === "manifests" && !reference.includes(":")) tags.set(`${repository}:${reference}`, digest);
    return void response.writeHead(201, { "docker-content-digest": digest }).end();
  }
  const digest = reference.includes(":") ? reference : (tags.get(`${repository}:${reference}`) ?? "");
  const blob = blobs.get(digest);
  if (blob === undefined) return void response.writeHead(404).end("{}");
  const headers = {
    "content-type": blob.type,
    "content-length": blob.data.byteLength,
    "docker-content-digest": digest,
  };
  return void response.writeHead(200, headers).end(method === "HEAD" ? undefined : blob.data);
}

function sha256(data: Uint8Array): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}

/** An archive in the `ustar` format. */
function tarOf(files: readonly ImageFile[]): Buffer {
  const blocks = files.flatMap(({ name, content, executable }) => {
    const data = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 100);
    const field = (value: number, offset: number, length: number): void =>
      void header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
    field(executable ? 0o755 : 0o644, 100, 8);
    field(0, 108, 8);
    field(0, 116, 8);
    field(data.byteLength, 124, 12);
    field(0, 136, 12);
    header.write("        0", 148, "latin1");
    header.write("ustar\u000000", 257, "latin1");
    field(
      header.reduce((sum, byte) => sum + byte, 0),
      148,
      7,
    );
    return [header, data, Buffer.alloc((512 - (data.byteLength % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
