import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createGzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { snapshot, tempDir } from "@steps/testkit";
import type { CacheOptions, ComponentRequest } from "../src/index.ts";
import { codeOf, leftovers, openCache } from "./fixtures.ts";
import {
  buildImage,
  buildIndex,
  buildTar,
  type BuiltImage,
  digestOf,
  gzip,
  type LayerEntry,
} from "@steps/testkit/image-registry";

interface Fake extends AsyncDisposable {
  readonly host: string;
  readonly seen: { url: string; authorization: string | undefined }[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean | void;

/** A registry that serves these images by tag, and says something else where it is told to. */
async function startFake(images: Readonly<Record<string, BuiltImage>>, lie: Answer = () => false): Promise<Fake> {
  const seen: Fake["seen"] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? "", authorization: request.headers.authorization });
    if (lie(request, response) === true) return;
    const [, kind, reference = ""] = /\/(manifests|blobs)\/([^?]+)/.exec(request.url ?? "") ?? [];
    const image = images[reference] ?? Object.values(images).find(({ digest }) => digest === reference);
    if (kind === "manifests" && image !== undefined) {
      response.setHeader("content-type", image.mediaType).setHeader("docker-content-digest", image.digest);
      return void response.end(image.manifest);
    }
    const blob = Object.values(images)
      .flatMap(({ blobs }) => [...blobs])
      .find(([digest]) => digest === reference);
    if (kind === "blobs" && blob !== undefined) return void response.end(blob[1]);
    response.writeHead(404).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function of(entries: readonly LayerEntry[], ...upper: (readonly LayerEntry[])[]): BuiltImage {
  return buildImage({ layers: [entries, ...upper].map((layer) => ({ data: gzip(layer) })) });
}

const good = of([{ path: "step.yml", content: "x" }]);
const layerDigest = [...good.blobs.keys()].at(0) as string;

function isBlob({ url = "" }: IncomingMessage, digest = layerDigest): boolean {
  return url.endsWith(`/blobs/${digest}`);
}

/** Returns the result of resolving `x` from a fake. A failure must leave nothing behind. */
async function outcome(
  fake: Fake,
  options: Partial<CacheOptions> & { env?: Record<string, string> } = {},
): Promise<unknown> {
  const root = join(tempDir(), "cache");
  const { env = {}, ...others } = options;
  await using cache = openCache({ root, env: { HOME: tempDir(), ...env }, ...others });
  const found = await codeOf(cache.resolve({ kind: "oci", registry: fake.host, repository: "g/p", tag: "x", env }));
  expect(leftovers(root)).toEqual([]);
  expect((await cache.verify()).damaged).toEqual([]);
  return typeof found === "string" ? found : snapshot((found.value as { dir: string }).dir);
}

describe("a registry that lies", () => {
  test("is believed when it does not", async () => {
    await using fake = await startFake({ x: good });
    expect(await outcome(fake)).toEqual({ "step.yml": "x" });
  });

  test.each<[string, Answer, string]>([
    ["about the digest of a tag", (request, response) => {
      if (request.url?.includes("/manifests/x") !== true) return false;
      response.setHeader("docker-content-digest", `sha256:${"0".repeat(64)}`);
      response.setHeader("content-type", good.mediaType).end(good.manifest);
      return true;
    }, "DIGEST_MISMATCH"],
    ["about the bytes of a layer", (request, response) => {
      if (!isBlob(request)) return false;
      const other = Buffer.alloc(good.blobs.get(layerDigest)?.byteLength ?? 0, 1);
      response.end(other);
      return true;
    }, "DIGEST_MISMATCH"],
    ["about the size of a layer, in its header", (request, response) => {
      if (!isBlob(request)) return false;
      response.end("short");
      return true;
    }, "DIGEST_MISMATCH"],
    ["about the size of a layer, without end", (request, response) => {
      if (!isBlob(request)) return false;
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on("drain", pour);
      pour();
      return true;
    }, "DIGEST_MISMATCH"],
    ["about the size of a layer, by packing it once more", (request, response) => {
      if (!isBlob(request)) return false;
      const bomb = createGzip();
      response.setHeader("content-encoding", "gzip");
      bomb.pipe(response);
      bomb.end(Buffer.alloc(50_000_000));
      return true;
    }, "DIGEST_MISMATCH"],
    ["and hangs up in the middle of a layer", (request, response) => {
      if (!isBlob(request)) return false;
      response.setHeader("content-length", good.blobs.get(layerDigest)?.byteLength ?? 0);
      response.write("x");
      setImmediate(() => response.destroy());
      return true;
    }, "TRANSPORT"],
    ["with a manifest of another version", (request, response) => {
      if (request.url?.includes("/manifests/") !== true) return false;
      response.end('{"schemaVersion": 1, "fsLayers": []}');
      return true;
    }, "ARCHIVE_INVALID"],
    ["with a manifest that is a page", (request, response) => {
      if (request.url?.includes("/manifests/") !== true) return false;
      response.end("<html>sign in</html>");
      return true;
    }, "ARCHIVE_INVALID"],
    ["with a manifest that is an index and an image (CVE-2021-41190)", (request, response) => {
      if (request.url?.includes("/manifests/") !== true) return false;
      response.end('{"schemaVersion": 2, "manifests": [], "layers": []}');
      return true;
    }, "ARCHIVE_INVALID"],
    ["with a manifest as large as it likes", (request, response) => {
      if (request.url?.includes("/manifests/") !== true) return false;
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, "{")));
      };
      response.on("drain", pour);
      pour();
      return true;
    }, "ARCHIVE_TOO_LARGE"],
    ["with a manifest that says it is too large", (request, response) => {
      if (request.url?.includes("/manifests/") !== true) return false;
      response.setHeader("content-length", 10 ** 12);
      response.write("{");
      return true;
    }, "ARCHIVE_TOO_LARGE"],
    ["with redirects without end", (request, response) => {
      response.writeHead(307, { location: request.url }).end();
      return true;
    }, "TRANSPORT"],
    ["with a redirect to a file", (request, response) => {
      if (!isBlob(request)) return false;
      response.writeHead(307, { location: "file:///etc/passwd" }).end();
      return true;
    }, "TRANSPORT"],
    ["with a challenge that has no realm", (_request, response) => {
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    }, "AUTH_FAILED"],
    ["with a challenge that leads to this machine's files", (_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Bearer realm="file:///etc/passwd"' }).end();
      return true;
    }, "AUTH_FAILED"],
    ["with a challenge that leads elsewhere without TLS", (_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Bearer realm="http://169.254.169.254/latest"' }).end();
      return true;
    }, "AUTH_FAILED"],
    ["with a challenge of nonsense", (_request, response) => {
      response.writeHead(401, { "www-authenticate": "a,=\"\\".repeat(2000) }).end();
      return true;
    }, "AUTH_FAILED"],
  ])("%s", async (_name, lie, expected) => {
    await using fake = await startFake({ x: good }, lie);
    expect(await outcome(fake)).toBe(expected);
  }); // prettier-ignore

  test("about the digest that was asked for", async () => {
    const other = of([{ path: "step.yml", content: "other" }]);
    await using fake = await startFake({ [good.digest]: other });
    await using cache = openCache();
    const request: ComponentRequest = { kind: "oci", registry: fake.host, repository: "g/p", tag: good.digest };
    expect(await codeOf(cache.resolve(request))).toBe("DIGEST_MISMATCH");
  });

  test("about the digest in an index, or nests indexes, or names what is elsewhere", async () => {
    const manifest = (json: object): BuiltImage => {
      const data = Buffer.from(JSON.stringify({ schemaVersion: 2, ...json }));
      return { ...good, manifest: data, digest: digestOf(data), mediaType: "application/vnd.oci.image.index.v1+json" };
    };
    const image = "application/vnd.oci.image.manifest.v1+json";
    const inner = manifest({ manifests: [] });
    const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: digestOf(Buffer.from("{}")), size: 2 };
    const layer = { mediaType: "application/vnd.oci.image.layer.v1.tar", digest: layerDigest, size: 5 };
    const cases: [BuiltImage, string][] = [
      [manifest({ manifests: [{ mediaType: image, digest: inner.digest, size: 1 }] }), "ARCHIVE_INVALID"],
      [manifest({ manifests: [{ mediaType: image, digest: "sha256:../../x", size: 1 }] }), "ARCHIVE_INVALID"],
      [manifest({ manifests: [{ mediaType: image, digest: `sha256:${"0".repeat(64)}`, size: 1 }] }), "REFERENCE_NOT_FOUND"],
      [manifest({ manifests: [] }), "REFERENCE_NOT_FOUND"],
      [manifest({ config, layers: [{ ...layer, urls: ["https://example.com/x"] }] }), "ARCHIVE_INVALID"],
      [manifest({ config, layers: [{ ...layer, mediaType: "application/vnd.oci.image.layer.nondistributable.v1.tar" }] }), "ARCHIVE_INVALID"],
      [manifest({ config, layers: [{ ...layer, mediaType: "text/html" }] }), "ARCHIVE_INVALID"],
      [manifest({ config, layers: [{ ...layer, size: -1 }] }), "ARCHIVE_INVALID"],
      [manifest({ config, layers: [{ ...layer, size: 1e15 }] }), "ARCHIVE_TOO_LARGE"],
      [manifest({ config, layers: Array.from({ length: 129 }, () => layer) }), "ARCHIVE_INVALID"],
      [manifest({ config: { ...config, size: 1e9 }, layers: [] }), "ARCHIVE_TOO_LARGE"],
      [manifest({ manifests: Array.from({ length: 1001 }, () => layer) }), "ARCHIVE_INVALID"],
    ]; // prettier-ignore
    for (const [index, [top, expected]] of cases.entries()) {
      await using fake = await startFake({ x: { ...top, mediaType: "application/json" }, inner });
      expect([index, await outcome(fake)]).toEqual([index, expected]);
    }
  });
});

describe("a registry that does not answer", () => {
  const hang =
    (where: RegExp): Answer =>
    ({ url = "" }) =>
      where.test(url);

  test.each([/\/manifests\//, /\/blobs\//])(
    "for %s is left when the request is cancelled, or took too long",
    async (where) => {
      await using fake = await startFake({ x: good }, hang(where));
      expect(await outcome(fake, { limits: { fetchTimeoutMs: 300 } })).toBe("TRANSPORT");
      const root = join(tempDir(), "cache");
      await using cache = openCache({ root, env: { HOME: tempDir() } });
      const stop = new AbortController();
      const request: ComponentRequest = { kind: "oci", registry: fake.host, repository: "g/p", tag: "x" };
      const before = fake.seen.length;
      const resolved = codeOf(cache.resolve(request, { signal: stop.signal }));
      await expect.poll(() => fake.seen.slice(before).some(({ url }) => where.test(url))).toBe(true);
      stop.abort();
      expect(await resolved).toBe("CANCELLED");
      await expect.poll(() => leftovers(root)).toEqual([]);
    },
  );
});

test("several who ask for one image at once fetch it once, in one process and in several cache objects", async () => {
  await using fake = await startFake({ x: good });
  const root = join(tempDir(), "cache");
  const caches = [1, 2, 3].map(() => openCache({ root, env: { HOME: tempDir() } }));
  const request: ComponentRequest = { kind: "oci", registry: fake.host, repository: "g/p", tag: "x" };
  const all = await Promise.all(Array.from({ length: 12 }, (_, index) => caches[index % 3]?.resolve(request)));
  expect(new Set(all.map((component) => component?.dir)).size).toBe(1);
  expect(fake.seen.filter(({ url }) => url.endsWith(`/blobs/${layerDigest}`))).toHaveLength(1);
  expect(fake.seen.filter(({ url }) => url.includes("/manifests/")).length).toBeLessThanOrEqual(3);
  await Promise.all(caches.map((cache) => cache[Symbol.asyncDispose]()));
});

describe("credentials", () => {
  const secret = { username: "me", password: "s3cret-password" };
  const configOf = (...hosts: string[]): Record<string, string> => ({
    DOCKER_AUTH_CONFIG: JSON.stringify({ auths: Object.fromEntries(hosts.map((host) => [host, secret])) }),
  });
  const wantsBasic: Answer = (request, response) => {
    if (request.headers.authorization !== undefined) return false;
    response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    return true;
  };

  test("are not sent on to where a layer is kept", async () => {
    await using store = await startFake({ x: good });
    await using fake = await startFake({ x: good }, (request, response) => {
      if (wantsBasic(request, response) === true) return true;
      if (!isBlob(request)) return false;
      response.writeHead(307, { location: `http://${store.host}${request.url}?signature=1` }).end();
      return true;
    });
    expect(await outcome(fake, { env: configOf(fake.host) })).toEqual({ "step.yml": "x" });
    expect(fake.seen.some(({ authorization }) => authorization !== undefined)).toBe(true);
    expect(store.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("are not sent where a redirect asks for them", async () => {
    await using thief = await startFake({}, wantsBasic);
    await using fake = await startFake({ x: good }, (request, response) => {
      if (wantsBasic(request, response) === true) return true;
      if (!isBlob(request)) return false;
      response.writeHead(307, { location: `http://${thief.host}/blobs/x` }).end();
      return true;
    });
    expect(await outcome(fake, { env: configOf(fake.host, thief.host) })).toBe("AUTH_FAILED");
    expect(thief.seen.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("are not sent to a token server of another site, and to one that is named they are", async () => {
    await using tokens = await startFake({}, (_request, response) => {
      response.end('{"token": "t"}');
      return true;
    });
    const other = tokens.host.replace("127.0.0.1", "localhost");
    await using fake = await startFake({ x: good }, (request, response) => {
      if (request.headers.authorization !== undefined) return false;
      response.writeHead(401, { "www-authenticate": `Bearer realm="http://${other}/token",service="s"` }).end();
      return true;
    });
    expect(await outcome(fake, { env: configOf(fake.host) })).toBe("AUTH_FAILED");
    expect(tokens.seen).toEqual([]);
    // Without credentials there is nothing to protect.
    expect(await outcome(fake)).toEqual({ "step.yml": "x" });
    expect(await outcome(fake, { env: configOf(fake.host, other) })).toEqual({ "step.yml": "x" });
    expect(tokens.seen.map(({ authorization }) => authorization?.slice(0, 6))).toEqual([undefined, "Basic "]);
  });

  test("of one registry are not another's", async () => {
    await using fake = await startFake({ x: good }, wantsBasic);
    expect(await outcome(fake, { env: configOf("registry.gitlab.com") })).toBe("AUTH_FAILED");
    expect(fake.seen.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });
});

describe("layers", () => {
  test.each<[string, BuiltImage, unknown]>([
    ["a name with ..", of([{ path: "../x" }]), "UNSAFE_ENTRY"],
    ["a name with .. in the middle", of([{ path: "a/../../x" }]), "UNSAFE_ENTRY"],
    ["an absolute name", of([{ path: "/etc/x", content: "x" }, { path: "//y", content: "y" }]), { "etc/x": "x", y: "y" }],
    ["an absolute name with ..", of([{ path: "/../x" }]), "UNSAFE_ENTRY"],
    ["git's own folder", of([{ path: "a/.git/config" }]), "UNSAFE_ENTRY"],
    ["a name with a line feed", of([{ path: "a\nb" }]), "UNSAFE_ENTRY"],
    ["absolute links", of([{ path: "d/e/a", type: "SymbolicLink", linkpath: "/etc/passwd" }, { path: "b", type: "SymbolicLink", linkpath: "//etc" }, { path: "d/c", type: "SymbolicLink", linkpath: "/" }, { path: "r", type: "SymbolicLink", linkpath: "/" }]), { "d/e/a": "-> ../../etc/passwd", b: "-> etc", "d/c": "-> ../", r: "-> ." }],
    ["an absolute link that leads out", of([{ path: "a", type: "SymbolicLink", linkpath: "/../x" }]), "UNSAFE_ENTRY"],
    ["an absolute link that leads out by another", of([{ path: "l", type: "SymbolicLink", linkpath: "/" }, { path: "a", type: "SymbolicLink", linkpath: "/l/../x" }]), "UNSAFE_ENTRY"],
    ["a link that leads out", of([{ path: "a", type: "SymbolicLink", linkpath: "../x" }]), "UNSAFE_ENTRY"],
    ["links that lead out together", of([{ path: "d/a", type: "SymbolicLink", linkpath: ".." }, { path: "b", type: "SymbolicLink", linkpath: "d/a/../x" }]), "UNSAFE_ENTRY"],
    ["a file below a link", of([{ path: "a", type: "SymbolicLink", linkpath: "b" }, { path: "a/x" }]), "UNSAFE_ENTRY"],
    ["a file below a link of a layer below", of([{ path: "a", type: "SymbolicLink", linkpath: "." }], [{ path: "a/x" }]), "UNSAFE_ENTRY"],
    ["a hard link that leads out", of([{ path: "a", type: "Link", linkpath: "../../etc/passwd" }]), "UNSAFE_ENTRY"],
    ["an absolute hard link to nothing", of([{ path: "a", type: "Link", linkpath: "/etc/passwd" }]), "UNSAFE_ENTRY"],
    ["an absolute hard link", of([{ path: "b/f", content: "f" }, { path: "a", type: "Link", linkpath: "/b/f" }]), { a: "f", "b/f": "f" }],
    ["a hard link to nothing", of([{ path: "a", type: "Link", linkpath: "b" }]), "UNSAFE_ENTRY"],
    ["a hard link to a folder", of([{ path: "b/x" }, { path: "a", type: "Link", linkpath: "b" }]), "UNSAFE_ENTRY"],
    ["a hard link through a link", of([{ path: "l", type: "SymbolicLink", linkpath: "d" }, { path: "d/f" }, { path: "a", type: "Link", linkpath: "l/f" }]), "UNSAFE_ENTRY"],
    ["a device", of([{ path: "a", type: "CharacterDevice" }]), "UNSAFE_ENTRY"],
    ["a pipe", of([{ path: "a", type: "FIFO" }]), "UNSAFE_ENTRY"],
    ["a whiteout of ..", of([{ path: "x" }], [{ path: ".wh..." }]), "UNSAFE_ENTRY"],
    ["a whiteout of .", of([{ path: "x" }], [{ path: ".wh.." }]), "UNSAFE_ENTRY"],
    ["a whiteout of nothing", of([{ path: "x" }], [{ path: ".wh." }]), "UNSAFE_ENTRY"],
    ["a whiteout outside", of([{ path: "x" }], [{ path: "../.wh.x" }]), "UNSAFE_ENTRY"],
    ["names that fold to one", of([{ path: "a" }], [{ path: "A" }]), "UNSAFE_ENTRY"],
    ["what is no archive", buildImage({ layers: [{ data: gzipSync("hello".repeat(500)) }] }), "ARCHIVE_INVALID"],
    ["an archive that ends early", buildImage({ layers: [{ data: buildTar([{ path: "a", content: "x", size: 5000 }]).subarray(0, 1024) }] }), "ARCHIVE_INVALID"],
    ["what is packed twice", buildImage({ layers: [{ data: gzipSync(gzip([{ path: "a" }])) }] }), "ARCHIVE_INVALID"],
    ["damaged gzip", buildImage({ layers: [{ data: gzip([{ path: "a", content: "x".repeat(1000) }]).fill(7, 30, 60) }] }), "ARCHIVE_INVALID"],
    ["a bomb", buildImage({ layers: [{ data: gzipSync(Buffer.alloc(60 * 1024 * 1024), { level: 9 }) }] }), "ARCHIVE_TOO_LARGE"],
    ["a bomb in a file", of([{ path: "a", content: Buffer.alloc(60 * 1024 * 1024) }]), "ARCHIVE_TOO_LARGE"],
    ["too many entries", of(Array.from({ length: 20_001 }, (_, index) => ({ path: `f${index}` }))), "ARCHIVE_TOO_LARGE"],
    ["a dangerous link that is hidden again", of([{ path: "a", type: "SymbolicLink", linkpath: "/etc" }, { path: "b", content: "b" }], [{ path: ".wh.a" }]), { b: "b" }],
    ["setuid", of([{ path: "a", mode: 0o4755, content: "a" }]), { a: "x a" }],
  ])("with %s", async (_name, image, expected) => {
    await using fake = await startFake({ x: image });
    expect(await outcome(fake)).toEqual(expected);
  }); // prettier-ignore

  test("of an index are those of one manifest", async () => {
    const running = process.arch === "arm64" ? "arm64" : "amd64";
    const child = { ...good, platform: { os: "linux", architecture: running } };
    const index = { ...good, ...buildIndex([child]) };
    await using fake = await startFake({ x: index, child });
    expect(await outcome(fake)).toEqual({ "step.yml": "x" });
  });
});
