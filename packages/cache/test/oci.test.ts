import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { snapshot, tempDir } from "@steps/testkit";
import { codeOf, openCache } from "./fixtures.ts";
import {
  buildImage,
  gzip,
  hasRegistry,
  type LayerEntry,
  push,
  skopeo,
  startRegistry,
  zstd,
} from "@steps/testkit/image-registry";

const STEP: readonly LayerEntry[] = [
  { path: "step.yml", content: "spec: {}\n" },
  { path: "bin/", type: "Directory" },
  { path: "bin/run", content: "#!/bin/sh\n", mode: 0o755 },
  { path: "current", type: "SymbolicLink", linkpath: "bin/run" },
  { path: "bin/again", type: "Link", linkpath: "bin/run" },
];
const FILES = {
  "step.yml": "spec: {}\n",
  "bin/run": "x #!/bin/sh\n",
  "bin/again": "x #!/bin/sh\n",
  current: "-> bin/run",
};
const amd64 = { os: "linux", architecture: "amd64" };
const arm64 = { os: "linux", architecture: "arm64" };
const generic = { os: "generic", architecture: "generic" };
const running = process.arch === "arm64" ? arm64 : amd64;
const other = process.arch === "arm64" ? amd64 : arm64;

function file(content: string): Buffer {
  return gzip([{ path: "which", content }]);
}

test.skipIf(!hasRegistry)("resolve() fetches an image by tag, and again from what is here", async () => {
  await using registry = await startRegistry();
  const [name, base] = [registry.host, `http://${registry.host}`];
  const image = buildImage({ layers: [{ data: gzip(STEP) }], platform: running });
  await push(base, { repository: "group/step", tag: "v1", images: [image] });
  const request = { kind: "oci", registry: name, repository: "group/step", tag: "v1" } as const;
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const { resource, dir, fetch } = await cache.resolve(request);
  expect(snapshot(dir)).toEqual(FILES);
  expect(resource).toEqual({
    kind: "oci",
    uri: `oci://${name}/group/step`,
    requestedVersion: "v1",
    resolvedVersion: image.digest,
    digest: { sha256: image.digest.slice(7), gitTree: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    isMutable: true,
  });
  expect(fetch).toMatchObject({ isHit: false });
  expect(fetch.bytes).toBeGreaterThan(300);
  expect((await cache.resolve(request)).fetch).toMatchObject({ isHit: true, bytes: 0 });

  await using later = openCache({ root });
  expect((await later.resolve(request)).fetch).toMatchObject({ isHit: true, bytes: 0 });
  const byDigest = { ...request, tag: image.digest };
  expect((await later.resolve(byDigest)).resource).toMatchObject({ isMutable: false, digest: resource.digest });
  await using offline = openCache({ root, isOffline: true });
  expect((await offline.resolve(request)).dir).toBe(dir);
  expect((await offline.resolve(byDigest)).dir).toBe(dir);
  expect((await offline.resolve(request, { pin: resource })).dir).toBe(dir);
  expect(await codeOf(offline.resolve({ ...request, tag: "v2" }))).toBe("OFFLINE");
  expect(await codeOf(later.resolve({ ...request, tag: "v2" }))).toBe("REFERENCE_NOT_FOUND");
  expect(await codeOf(later.resolve({ ...request, repository: "group/none" }))).toBe("REFERENCE_NOT_FOUND");
  expect((await later.list()).map(({ kind, version }) => [kind, version])).toContainEqual(["oci", "v1"]);
  expect(await later.verify()).toMatchObject({ damaged: [], trees: 1, archives: 3 });
  expect(registry.log.filter((line) => line.includes("blobs/") && line.includes("GET"))).not.toEqual([]);
});

test.skipIf(!hasRegistry)("a tag that moves is what it was for a job, and what it is for the next", async () => {
  await using registry = await startRegistry();
  const base = `http://${registry.host}`;
  const request = { kind: "oci", registry: registry.host, repository: "r", tag: "latest" } as const;
  const first = buildImage({ layers: [{ data: file("1") }] });
  await push(base, { repository: "r", tag: "latest", images: [first] });
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const before = await cache.resolve(request);
  await push(base, { repository: "r", tag: "latest", images: [buildImage({ layers: [{ data: file("2") }] })] });
  expect((await cache.resolve(request)).dir).toBe(before.dir);
  await using next = openCache({ root });
  expect(snapshot((await next.resolve(request)).dir)).toEqual({ which: "2" });
  // A replay has the manifest of then.
  await using replay = openCache();
  expect(snapshot((await replay.resolve(request, { pin: before.resource })).dir)).toEqual({ which: "1" });
});

test.skipIf(!hasRegistry).each([false, true])(
  "resolve() chooses the platform of an index (Docker's: %j)",
  async (isDocker) => {
    await using registry = await startRegistry();
    const base = `http://${registry.host}`;
    const of = (platform: typeof running, content: string) =>
      buildImage({ layers: [{ data: file(content) }], platform, isDocker });
    const put = (tag: string, images: readonly ReturnType<typeof buildImage>[]) =>
      push(base, { repository: "r", tag, images, isIndex: true, isDocker });
    const index = await put("both", [of(other, "other"), of(generic, "generic"), of(running, "running")]);
    await put("generic", [of(other, "other"), of(generic, "generic")]);
    await put("other", [of(other, "other")]);
    const request = { kind: "oci", registry: registry.host, repository: "r" } as const;
    await using cache = openCache();
    const both = await cache.resolve({ ...request, tag: "both" });
    expect(snapshot(both.dir)).toEqual({ which: "running" });
    expect(both.resource.resolvedVersion).toBe(index);
    expect(`sha256:${both.resource.digest["sha256"]}`).toBe(of(running, "running").digest);
    expect(snapshot((await cache.resolve({ ...request, tag: "generic" })).dir)).toEqual({ which: "generic" });
    expect(await codeOf(cache.resolve({ ...request, tag: "other" }))).toBe("REFERENCE_NOT_FOUND");
    await expect(cache.resolve({ ...request, tag: "other" })).rejects.toThrow(
      `didn't find an image matching platform linux/${running.architecture} or generic`,
    );
    const { note } = await cache.resolve({ ...request, tag: of(other, "other").digest });
    expect(note).toContain(`for linux/${other.architecture}`);
  },
);

test.skipIf(!hasRegistry)("layers lie over each other, packed by gzip, zstd or not at all", async () => {
  await using registry = await startRegistry();
  const layers = [
    {
      data: gzip([
        { path: "./", type: "Directory" },
        { path: "./kept", content: "kept" },
        { path: "gone", content: "gone" },
        { path: "replaced", content: "old" },
        { path: "dir/a", content: "a" },
        { path: "dir/b", content: "b" },
        { path: "opaque/old", content: "old" },
        { path: "opaque/deep/old", content: "old" },
        { path: "file-then-dir", content: "" },
        { path: "source", content: "shared", mode: 0o755 },
      ]),
    },
    {
      mediaType: "application/vnd.oci.image.layer.v1.tar+zstd",
      data: zstd([
        { path: ".wh.gone" },
        { path: "replaced", content: "new" },
        { path: "dir/.wh.b" },
        // The order in a layer does not matter: what it hides is below it.
        { path: "opaque/new", content: "new" },
        { path: "opaque/.wh..wh..opq" },
        { path: ".wh.file-then-dir" },
        { path: "file-then-dir/x", content: "x" },
        { path: "linked", type: "Link", linkpath: "./source" },
        { path: ".wh.never-was" },
        { path: ".wh..wh.aufs" },
      ]),
    },
    {
      mediaType: "application/vnd.gitlab.step.layer.v1.tar+zstd",
      data: zstd([{ path: ".wh.source" }, { path: "dir/", type: "Directory" }]),
    },
  ] as const;
  await push(`http://${registry.host}`, { repository: "r", tag: "x", images: [buildImage({ layers })] });
  await using cache = openCache();
  const { dir } = await cache.resolve({ kind: "oci", registry: registry.host, repository: "r", tag: "x" });
  expect(snapshot(dir)).toEqual({
    kept: "kept",
    replaced: "new",
    "dir/a": "a",
    "opaque/new": "new",
    "file-then-dir/x": "x",
    linked: "x shared",
  });
});

test.skipIf(!hasRegistry)("what skopeo pushes is fetched", async () => {
  await using registry = await startRegistry();
  const layout = tempDir();
  const image = buildImage({ layers: [{ data: gzip(STEP) }], platform: running });
  writeLayout(layout, image);
  const target = `docker://${registry.host}/by/skopeo:1`;
  await skopeo(["copy", "--dest-tls-verify=false", `oci:${layout}`, target]);
  await skopeo(["copy", "--dest-tls-verify=false", "--format", "v2s2", `oci:${layout}`, `${target}-docker`]);
  await using cache = openCache();
  for (const tag of ["1", "1-docker"]) {
    const { dir, resource } = await cache.resolve({
      kind: "oci",
      registry: registry.host,
      repository: "by/skopeo",
      tag,
    });
    expect(snapshot(dir)).toEqual(FILES);
    const seen = await skopeo([
      "inspect",
      "--tls-verify=false",
      "--format",
      "{{.Digest}}",
      `docker://${registry.host}/by/skopeo:${tag}`,
    ]);
    expect(resource.resolvedVersion).toBe(seen.trim());
  }
});

test.skipIf(!hasRegistry)(
  "files that were changed or thrown away are made again, without the network if layers are here",
  async () => {
    await using registry = await startRegistry();
    await push(`http://${registry.host}`, {
      repository: "r",
      tag: "x",
      images: [buildImage({ layers: [{ data: file("1") }] })],
    });
    const request = { kind: "oci", registry: registry.host, repository: "r", tag: "x" } as const;
    const root = join(tempDir(), "cache");
    await using cache = openCache({ root });
    const { dir } = await cache.resolve(request);
    await using offline = openCache({ root, isOffline: true });
    chmodSync(join(dir, "which"), 0o644);
    writeFileSync(join(dir, "which"), "X");
    const again = await offline.resolve(request);
    expect(readFileSync(join(again.dir, "which"), "utf8")).toBe("1");
    expect(again.note).toContain("had been changed");
    await cache[Symbol.asyncDispose]();
    await offline[Symbol.asyncDispose]();
    await using gone = openCache({ root });
    expect(await gone.collect({ maxBytes: 0 })).toMatchObject({ leased: 0, keptBytes: 0 });
    expect(existsSync(dir)).toBe(false);
    expect(await gone.list()).toEqual([]);
    expect(snapshot((await gone.resolve(request)).dir)).toEqual({ which: "1" });
  },
);

function writeLayout(dir: string, image: ReturnType<typeof buildImage>): void {
  const blob = (digest: string, data: Uint8Array): void =>
    writeFileSync(join(dir, "blobs/sha256", digest.slice(7)), data);
  mkdirSync(join(dir, "blobs/sha256"), { recursive: true });
  for (const [digest, data] of image.blobs) blob(digest, data);
  blob(image.digest, image.manifest);
  const entry = { mediaType: image.mediaType, digest: image.digest, size: image.manifest.byteLength };
  writeFileSync(join(dir, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  writeFileSync(join(dir, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
}
