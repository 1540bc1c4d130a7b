import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createCache } from "@steps/cache";
import { buildImageArchive, type BuildOptions, promoteImage, publishImageArchive } from "@steps/publish";
import { snapshot, tempDir } from "@steps/testkit";
import { digestOf, hasRegistry, skopeo, startRegistry } from "@steps/testkit/image-registry";

const running = process.arch === "arm64" ? "arm64" : "amd64";

function lay(files: Readonly<Record<string, string>>): string {
  const dir = tempDir();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
    if (path.startsWith("bin/")) chmodSync(join(dir, path), 0o755);
  }
  return dir;
}

const LONG = `${"long/".repeat(30)}${"n".repeat(120)}.txt`;

function optionsFor(baseDir: string, more: Partial<BuildOptions> = {}): BuildOptions {
  return { version: "1.2.3", common: {}, platforms: [], baseDir, ...more };
}

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => ({ value }),
    (error: { code?: unknown }) => error.code ?? error,
  );
}

test("the same files give the same archive, whatever their times", async () => {
  const dir = lay({ "step.yml": "x", "bin/run": "#!/bin/sh\n", "sub/ü.txt": "ü", [LONG]: "long" });
  symlinkSync("bin/run", join(dir, "link"));
  const first = await buildImageArchive(join(dir, "../a.tar"), optionsFor(dir, { common: { ".": "." } }));
  writeFileSync(join(dir, "step.yml"), "x");
  const second = await buildImageArchive(join(dir, "../b.tar"), optionsFor(dir, { common: { "/": "./" } }));
  expect(second).toEqual(first);
  const data = readFileSync(join(dir, "../a.tar"));
  expect(digestOf(readFileSync(join(dir, "../b.tar")))).toBe(digestOf(data));
});

test.each<[string, Partial<BuildOptions>, string]>([
  ["a source that is not there", { common: { a: "none" } }, "FILES_INVALID"],
  ["no files", {}, "IMAGE_INVALID"],
  ["a destination outside", { common: { "../a": "step.yml" } }, "UNSAFE_ENTRY"],
  ["a destination in git's folder", { common: { ".git/a": "step.yml" } }, "UNSAFE_ENTRY"],
  ["a link that leads out", { common: { l: "out" } }, "UNSAFE_ENTRY"],
  ["a version with a v", { common: { a: "step.yml" }, version: "v1.2.3" }, "IMAGE_INVALID"],
  ["a version with build metadata", { common: { a: "step.yml" }, version: "1.2.3+x" }, "IMAGE_INVALID"],
  ["a platform twice", { platforms: [{ os: "linux", architecture: "amd64", files: {} }, { os: "Linux", architecture: "x86_64", files: {} }] }, "IMAGE_INVALID"],
  ["a platform of nonsense", { platforms: [{ os: "li nux", architecture: "amd64", files: {} }] }, "IMAGE_INVALID"],
])("an image with %s is not built", async (_name, more, code) => {
  const dir = lay({ "step.yml": "x" });
  symlinkSync("../../etc/passwd", join(dir, "out"));
  const output = join(tempDir(), "image.tar");
  expect(await codeOf(buildImageArchive(output, optionsFor(dir, more)))).toBe(code);
}); // prettier-ignore

test.skipIf(!hasRegistry)("what is built is published, moves its tags, and is fetched and copied by skopeo", async () => {
  await using registry = await startRegistry();
  const dir = lay({ "step.yml": "x", "bin/amd64": "amd64", "bin/arm64": "arm64", [LONG]: "long" });
  const files = (architecture: string): BuildOptions["platforms"][number] => ({
    os: "linux",
    architecture,
    files: { "bin/tool": `bin/${architecture}` },
  });
  const build = async (version: string, output: string): Promise<string> => {
    const platforms = [files("amd64"), files("arm64")];
    const common = { "step.yml": "step.yml", [LONG]: LONG };
    const labels = { "org.opencontainers.image.title": version };
    return (await buildImageArchive(output, optionsFor(dir, { version, common, platforms, labels }))).digest;
  };
  const publish = (archive: string) =>
    publishImageArchive({ archive, registry: registry.host, repository: "group/tool", env: { HOME: dir } });
  const out = tempDir();
  const digests: Record<string, string> = {};
  const tags: Record<string, readonly string[]> = {};
  for (const version of ["1.2.3", "1.2.4", "2.0.0", "1.3.0", "1.2.5", "2.1.0-rc.1", "0.9.0"]) {
    // A folder now and then: both are the OCI layout.
    const archive = join(out, version === "1.3.0" ? version : `${version}.tar`);
    digests[version] = await build(version, archive);
    const published = await publish(archive);
    expect(published.digest).toBe(digests[version]);
    tags[version] = published.tags;
  }
  expect(tags).toEqual({
    "1.2.3": ["1.2.3", "1.2", "1", "latest"],
    "1.2.4": ["1.2.4", "1.2", "1", "latest"],
    "2.0.0": ["2.0.0", "2.0", "2", "latest"],
    "1.3.0": ["1.3.0", "1.3", "1"],
    "1.2.5": ["1.2.5", "1.2"],
    "2.1.0-rc.1": ["2.1.0-rc.1"],
    "0.9.0": ["0.9.0", "0.9", "0"],
  });
  const image = `docker://${registry.host}/group/tool`;
  const inspect = async (tag: string): Promise<{ Digest: string; Os: string; Architecture: string }> =>
    JSON.parse(await skopeo(["inspect", "--tls-verify=false", `${image}:${tag}`])) as Awaited<ReturnType<typeof inspect>>;
  for (const [tag, version] of [["latest", "2.0.0"], ["1", "1.3.0"], ["1.2", "1.2.5"], ["2", "2.0.0"]] as const) {
    expect(await inspect(tag)).toMatchObject({ Digest: digests[version], Os: "linux", Architecture: running });
  }
  // Its own copies of all platforms, to where we fetch from again.
  const copy = `docker://${registry.host}/by/skopeo:1`;
  const insecure = ["--src-tls-verify=false", "--dest-tls-verify=false"];
  await skopeo(["copy", "--all", ...insecure, `${image}:1.2.5`, copy]);
  await skopeo(["copy", "--all", "--dest-tls-verify=false", `oci-archive:${out}/1.2.3.tar`, `${copy}-archive`]);
  await using cache = createCache({ root: join(tempDir(), "cache") });
  for (const [repository, tag] of [["group/tool", "1.2"], ["by/skopeo", "1"], ["by/skopeo", "1-archive"]] as const) {
    const { dir: fetched } = await cache.resolve({ kind: "oci", registry: registry.host, repository, tag });
    expect(snapshot(fetched)).toEqual({ "step.yml": "x", "bin/tool": `x ${running}`, [LONG]: "long" });
  }
  // A version that exists is never replaced; publishing the same content again is no error.
  expect(await publish(join(out, "1.2.3.tar"))).toMatchObject({ digest: digests["1.2.3"] });
  writeFileSync(join(dir, "step.yml"), "changed");
  await build("1.2.3", join(out, "again.tar"));
  expect(await codeOf(publish(join(out, "again.tar")))).toBe("VERSION_EXISTS");
  expect(await inspect("1.2.3")).toMatchObject({ Digest: digests["1.2.3"] });
}); // prettier-ignore

test.skipIf(!hasRegistry)(
  "what skopeo made is published under the version that it is annotated with, and damage is not",
  async () => {
    await using registry = await startRegistry();
    const dir = lay({ "step.yml": "x" });
    const out = tempDir();
    await buildImageArchive(join(out, "image"), optionsFor(dir, { common: { "step.yml": "step.yml" } }));
    const publish = (archive: string) =>
      publishImageArchive({ archive, registry: registry.host, repository: "r", env: { HOME: dir } });
    await skopeo(["copy", "--all", `oci:${join(out, "image")}:1.2.3`, `oci-archive:${join(out, "copy.tar")}`]);
    expect((await publish(join(out, "copy.tar"))).tags).toContain("1.2");
    const { manifests } = JSON.parse(readFileSync(join(out, "image/index.json"), "utf8")) as {
      manifests: { digest: string }[];
    };
    const top = join(out, "image/blobs/sha256", (manifests[0]?.digest ?? "").slice(7));
    chmodSync(top, 0o644);
    writeFileSync(top, `${readFileSync(top, "utf8")} `);
    expect(await codeOf(publish(join(out, "image")))).toBe("ARCHIVE_INVALID");
    expect(await codeOf(publish(join(out, "none.tar")))).toBe("ARCHIVE_INVALID");
    expect(await codeOf(publish(join(dir, "step.yml")))).toBe("ARCHIVE_INVALID");
  },
);

test.skipIf(!hasRegistry)("publishing wants the credentials to push", async () => {
  const user = { username: "me", password: "s3cret-password" };
  await using registry = await startRegistry({ basic: user });
  const dir = lay({ "step.yml": "x" });
  const archive = join(tempDir(), "image.tar");
  await buildImageArchive(archive, optionsFor(dir, { common: { "step.yml": "step.yml" } }));
  const { host } = registry;
  const publish = (env: Record<string, string>) =>
    publishImageArchive({ archive, registry: host, repository: "r", env: { HOME: dir, ...env } });
  expect(await codeOf(publish({}))).toBe("AUTH_FAILED");
  const config = JSON.stringify({ auths: { [host]: user } });
  expect(await publish({ DOCKER_AUTH_CONFIG: config })).toMatchObject({ tags: ["1.2.3", "1.2", "1", "latest"] });
});

test.skipIf(!hasRegistry)(
  "what is promoted is the same image, with all its platforms, in another registry",
  async () => {
    await using source = await startRegistry();
    await using target = await startRegistry({ basic: { username: "me", password: "secret" } });
    const dir = lay({ "step.yml": "x", "bin/amd64": "amd64", "bin/arm64": "arm64" });
    const platforms = ["amd64", "arm64"].map((architecture) => ({
      os: "linux",
      architecture,
      files: { "bin/tool": `bin/${architecture}` },
    }));
    const archive = join(tempDir(), "image.tar");
    const { digest } = await buildImageArchive(
      archive,
      optionsFor(dir, { common: { "step.yml": "step.yml" }, platforms }),
    );
    const env = {
      HOME: dir,
      DOCKER_AUTH_CONFIG: JSON.stringify({ auths: { [target.host]: { username: "me", password: "secret" } } }),
    };
    await publishImageArchive({ archive, registry: source.host, repository: "build/tool", env });
    const from = { registry: source.host, repository: "build/tool", tag: "1.2.3" };
    const to = { registry: target.host, repository: "group/tool", version: "3.0.0", env };
    expect(await promoteImage(from, to)).toEqual({ digest, tags: ["3.0.0", "3.0", "3", "latest"] });
    // Again is no error, and by digest it is the same.
    expect(await promoteImage({ ...from, tag: digest }, to)).toMatchObject({ digest });
    const raw = await skopeo([
      "inspect",
      "--raw",
      "--tls-verify=false",
      "--creds",
      "me:secret",
      `docker://${target.host}/group/tool:3`,
    ]);
    expect(digestOf(Buffer.from(raw))).toBe(digest);
    const without = { ...to, env: { HOME: dir } };
    expect(await codeOf(promoteImage(from, without))).toBe("AUTH_FAILED");
    expect(await codeOf(promoteImage({ ...from, tag: "9" }, to))).toBe("REFERENCE_NOT_FOUND");
    expect(await codeOf(promoteImage(from, { ...to, version: "latest" }))).toBe("IMAGE_INVALID");
    const other = join(tempDir(), "other.tar");
    await buildImageArchive(other, optionsFor(dir, { version: "1.3.0", common: { "step.yml": "step.yml" } }));
    await publishImageArchive({ archive: other, registry: source.host, repository: "build/tool", env });
    expect(await codeOf(promoteImage({ ...from, tag: "1.3.0" }, to))).toBe("VERSION_EXISTS");
  },
);
