import { execFile, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { Header } from "tar";
import { hasProgram } from "./has-program.ts";
import { tempDir } from "./temp-dir.ts";

const run = promisify(execFile);

/** Whether Debian's `docker-registry` and `skopeo` are here. */
export const hasRegistry: boolean = hasProgram("docker-registry") && hasProgram("skopeo");

export interface RegistryOptions {
  /** The folder for its files; by default a new one that goes with the test. */
  readonly dir?: string;
  /** A user and a password that everybody has to give. */
  readonly basic?: { readonly username: string; readonly password: string };
  /** Tokens from this server are wanted: its URL, and the certificate that its tokens are signed with. */
  readonly token?: { readonly realm: string; readonly certificate: string };
  readonly tls?: { readonly certificate: string; readonly key: string };
}

export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Lines of its access log. */
  readonly log: readonly string[];
}

/** Starts Debian's `docker-registry` on a port of its own. */
export async function startRegistry(options: RegistryOptions = {}): Promise<Registry> {
  const dir = options.dir ?? tempDir();
  const config = join(dir, "config.yml");
  writeFileSync(config, configText(dir, options));
  // The environment must not configure it: `REGISTRY_…` would.
  const env = { PATH: process.env["PATH"], OTEL_TRACES_EXPORTER: "none" };
  const child = spawn("docker-registry", ["serve", config], { stdio: ["ignore", "pipe", "pipe"], env });
  const log: string[] = [];
  const { promise: listening, resolve, reject } = Promise.withResolvers<string>();
  child.on("error", reject);
  child.on("exit", (code) => reject(new Error(`docker-registry ended with ${code}:\n${log.join("\n")}`)));
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      log.push(line);
      const port = /listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port !== undefined) resolve(`127.0.0.1:${port}`);
    });
  }
  const host = await listening;
  return {
    host,
    log,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((end) => child.once("close", end));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

function configText(dir: string, { basic, token, tls }: RegistryOptions): string {
  const auth: Record<string, unknown> = {};
  if (basic !== undefined) {
    const path = join(dir, "htpasswd");
    const line = execFileSync("htpasswd", ["-Bbn", "-C", "4", basic.username, basic.password], { encoding: "utf8" });
    writeFileSync(path, line);
    auth["htpasswd"] = { realm: "test", path };
  }
  if (token !== undefined) {
    const { realm, certificate } = token;
    auth["token"] = { realm, service: "test-registry", issuer: "test-issuer", rootcertbundle: certificate };
  }
  mkdirSync(join(dir, "data"));
  // JSON is YAML.
  return JSON.stringify({
    version: 0.1,
    log: { accesslog: { disabled: false }, level: "info", formatter: "text" },
    storage: { filesystem: { rootdirectory: join(dir, "data") }, delete: { enabled: true } },
    http: { addr: "127.0.0.1:0", secret: "test", tls },
    ...(Object.keys(auth).length === 0 ? {} : { auth }),
  });
}

/** Runs skopeo with a policy that takes everything. Gives what it prints. */
export async function skopeo(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const home = tempDir();
  const policy = join(home, "policy.json");
  writeFileSync(policy, '{"default": [{"type": "insecureAcceptAnything"}]}');
  const { stdout } = await run("skopeo", ["--policy", policy, ...args], {
    env: { PATH: process.env["PATH"], HOME: home, XDG_RUNTIME_DIR: home, ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}

/** An entry of a layer. */
export interface LayerEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly mode?: number;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO";
  readonly linkpath?: string;
  /** The size that the header claims. */
  readonly size?: number;
}

/** A tar archive of exactly these entries, hostile ones included. */
export function buildTar(entries: readonly LayerEntry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const { path, content = "", mode, type = "File", linkpath, size } of entries) {
    const data = Buffer.from(content);
    const block = Buffer.alloc(512);
    const isDir = type === "Directory";
    new Header({
      path,
      type,
      mode: mode ?? (isDir ? 0o755 : 0o644),
      size: size ?? data.byteLength,
      mtime: new Date(0),
      uid: 0,
      gid: 0,
      linkpath,
    }).encode(block);
    blocks.push(block, data, Buffer.alloc((512 - (data.byteLength % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export interface ImageOptions {
  readonly layers: readonly { readonly data: Uint8Array; readonly mediaType?: string }[];
  readonly platform?: { readonly os: string; readonly architecture: string; readonly variant?: string };
  readonly isDocker?: boolean;
}

export interface BuiltImage {
  readonly manifest: Buffer;
  readonly mediaType: string;
  readonly digest: string;
  /** By digest: configuration and layers. */
  readonly blobs: ReadonlyMap<string, Buffer>;
  readonly platform: ImageOptions["platform"];
}

/** Builds an image in memory. */
export function buildImage({ layers, platform, isDocker = false }: ImageOptions): BuiltImage {
  const blobs = new Map<string, Buffer>();
  const add = (data: Uint8Array, mediaType: string): { mediaType: string; digest: string; size: number } => {
    const digest = digestOf(data);
    blobs.set(digest, Buffer.from(data));
    return { mediaType, digest, size: data.byteLength };
  };
  const config = Buffer.from(JSON.stringify({ ...platform, config: {}, rootfs: { type: "layers", diff_ids: [] } }));
  const mediaType = isDocker
    ? "application/vnd.docker.distribution.manifest.v2+json"
    : "application/vnd.oci.image.manifest.v1+json";
  const layerType = isDocker
    ? "application/vnd.docker.image.rootfs.diff.tar.gzip"
    : "application/vnd.oci.image.layer.v1.tar+gzip";
  const configType = isDocker
    ? "application/vnd.docker.container.image.v1+json"
    : "application/vnd.oci.image.config.v1+json";
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: add(config, configType),
      layers: layers.map((layer) => add(layer.data, layer.mediaType ?? layerType)),
    }),
  );
  return { manifest, mediaType, digest: digestOf(manifest), blobs, platform };
}

/** The index of several images. */
export function buildIndex(
  images: readonly BuiltImage[],
  isDocker = false,
): { manifest: Buffer; mediaType: string; digest: string } {
  const mediaType = isDocker
    ? "application/vnd.docker.distribution.manifest.list.v2+json"
    : "application/vnd.oci.image.index.v1+json";
  const manifests = images.map((image) => ({
    mediaType: image.mediaType,
    digest: image.digest,
    size: image.manifest.byteLength,
    platform: image.platform,
  }));
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
  return { manifest, mediaType, digest: digestOf(manifest) };
}

export function digestOf(data: Uint8Array): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}

export function gzip(entries: readonly LayerEntry[]): Buffer {
  return gzipSync(buildTar(entries));
}

export function zstd(entries: readonly LayerEntry[]): Buffer {
  return zstdCompressSync(buildTar(entries));
}

/** Pushes an image, or an index of several, by plain requests. */
export async function push(
  base: string,
  options: {
    readonly repository: string;
    readonly tag: string;
    readonly images: readonly BuiltImage[];
    readonly isIndex?: boolean;
    readonly isDocker?: boolean;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { repository, tag, images, isIndex = false, isDocker = false, headers = {} } = options;
  for (const image of images) {
    for (const [digest, data] of image.blobs) {
      const start = await expectOk(`${base}/v2/${repository}/blobs/uploads/`, { method: "POST", headers });
      const url = new URL(start.headers.get("location") ?? "", base);
      url.searchParams.set("digest", digest);
      await expectOk(url.href, { method: "PUT", headers, body: new Uint8Array(data) });
    }
    await putManifest(`${base}/v2/${repository}/manifests/${isIndex ? image.digest : tag}`, image, headers);
  }
  if (!isIndex) return images[0]?.digest ?? "";
  const index = buildIndex(images, isDocker);
  await putManifest(`${base}/v2/${repository}/manifests/${tag}`, index, headers);
  return index.digest;
}

async function putManifest(
  url: string,
  { manifest, mediaType }: { manifest: Buffer; mediaType: string },
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  await expectOk(url, {
    method: "PUT",
    headers: { ...headers, "content-type": mediaType },
    body: new Uint8Array(manifest),
  });
}

async function expectOk(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${init.method} ${url}: ${response.status} ${await response.text()}`);
  await response.body?.cancel();
  return response;
}
