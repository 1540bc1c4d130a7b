import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GitHttpServer, GitHttpServerOptions, GitRepository } from "@steps/testkit";
import { createGitRepository, snapshot, startGitHttpServer, tempDir } from "@steps/testkit";
import type { ComponentCache } from "../src/index.ts";
import { BACKENDS, codeOf, leftovers, openCache } from "./fixtures.ts";

const FILES = { "step.yml": "spec: {}\n", "bin/run": { content: "#!/bin/sh\n", mode: "100755" } } as const;

async function project(files: Parameters<typeof createGitRepository>[1] = FILES): Promise<GitRepository> {
  return await createGitRepository(join(tempDir(), "project"), files);
}

async function serve(
  repository: GitRepository,
  options: GitHttpServerOptions = {},
): Promise<GitHttpServer & { at: string }> {
  const server = await startGitHttpServer(dirname(repository.dir), options);
  return { ...server, at: `${server.url}/project.git` };
}

async function versionOf(cache: ComponentCache, url: string, version: string): Promise<string> {
  return (await cache.resolve({ kind: "git", url, version })).resource.resolvedVersion;
}

describe.each(BACKENDS)("resolve() of git by %s", (git) => {
  describe.each(["file", "http"])("over %s", (transport) => {
    async function setUp(): Promise<{ repository: GitRepository; url: string; close: () => Promise<void> }> {
      const repository = await project();
      if (transport === "file") return { repository, url: repository.url, close: async () => undefined };
      const server = await serve(repository);
      return { repository, url: server.at, close: () => server.close() };
    }

    test("gives the tree of a tag, a branch, a full and a short commit, and says what they are", async () => {
      const { repository, url, close } = await setUp();
      const first = await repository.tag("v1", { isAnnotated: true });
      await repository.branch("feature/one");
      const second = await repository.commit({ "step.yml": "changed\n" });
      await using cache = openCache({ git });
      const tagged = await cache.resolve({ kind: "git", url, version: "v1" });
      expect(snapshot(tagged.dir)).toEqual({ "step.yml": "spec: {}\n", "bin/run": "x #!/bin/sh\n" });
      expect(tagged.resource).toEqual({
        kind: "git",
        uri: url,
        requestedVersion: "v1",
        resolvedVersion: first,
        digest: { gitCommit: first, gitTree: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        nativeTreeId: await repository.git(["rev-parse", "v1^{tree}"]),
        isMutable: true,
      });
      expect(await versionOf(cache, url, "feature/one")).toBe(first);
      expect(await versionOf(cache, url, first.slice(0, 7))).toBe(first);
      expect(await versionOf(cache, url, second.slice(0, 10))).toBe(second);
      const full = await cache.resolve({ kind: "git", url, version: first });
      expect([full.resource.isMutable, full.resource.resolvedVersion, full.dir]).toEqual([false, first, tagged.dir]);
      expect(await codeOf(cache.resolve({ kind: "git", url, version: "nope" }))).toBe("REFERENCE_NOT_FOUND");
      expect(await codeOf(cache.resolve({ kind: "git", url, version: "0123456" }))).toBe("REFERENCE_NOT_FOUND");
      expect(await codeOf(cache.resolve({ kind: "git", url, version: "0".repeat(40) }))).toBe("REFERENCE_NOT_FOUND");
      await close();
    });

    test("takes a tag before a branch, and a branch before a commit", async () => {
      const { repository, url, close } = await setUp();
      const first = await repository.tag("same");
      const second = await repository.commit({ "step.yml": "2\n" });
      await repository.git(["update-ref", "refs/heads/same", second]);
      await repository.git(["update-ref", `refs/heads/${first.slice(0, 8)}`, second]);
      await using cache = openCache({ git });
      expect(await versionOf(cache, url, "same")).toBe(first);
      expect(await versionOf(cache, url, first.slice(0, 8))).toBe(second);
      await close();
    });

    test("freezes a branch for one object and looks again for the next", async () => {
      const { repository, url, close } = await setUp();
      const root = join(tempDir(), "cache");
      const first = await repository.revision();
      await using old = openCache({ git, root });
      expect(await versionOf(old, url, "main")).toBe(first);
      const second = await repository.commit({ "step.yml": "2\n" });
      await using fresh = openCache({ git, root });
      expect(await versionOf(fresh, url, "main")).toBe(second);
      expect(await versionOf(old, url, "main")).toBe(first);
      await close();
    });

    test("fetches a pinned commit whatever the branch says now", async () => {
      const { repository, url, close } = await setUp();
      await using cache = openCache({ git });
      const { resource } = await cache.resolve({ kind: "git", url, version: "main" });
      await repository.commit({ "step.yml": "2\n" });
      await using replay = openCache({ git });
      const again = await replay.resolve({ kind: "git", url, version: "main" }, { pin: resource });
      expect(again.resource).toEqual(resource);
      const forged = { ...resource, digest: { ...resource.digest, gitTree: "0".repeat(64) } };
      expect(await codeOf(replay.resolve({ kind: "git", url, version: "main" }, { pin: forged }))).toBe("PIN_MISMATCH");
      const other = { ...resource, kind: "zip" } as const;
      expect(await codeOf(replay.resolve({ kind: "git", url, version: "main" }, { pin: other }))).toBe("PIN_MISMATCH");
      await close();
    });
  });

  test("finds a commit that is no tip of a server that gives tips only", async () => {
    const repository = await project();
    await repository.git(["config", "uploadpack.allowReachableSHA1InWant", "false"]);
    const first = await repository.revision();
    await repository.commit({ "step.yml": "2\n" });
    await using server = await serve(repository);
    await using cache = openCache({ git });
    expect(await versionOf(cache, server.at, first)).toBe(first);
  });

  test("sends credentials to their own host, and says when they are missing or wrong", async () => {
    const repository = await project();
    await using server = await serve(repository, { auth: { username: "ci", password: "s3cret" } });
    const url = server.at;
    const root = join(tempDir(), "cache");
    await using cache = openCache({ git, root, env: { ...process.env, CI_JOB_TOKEN: "s3cret" } });
    for (const wrong of [url, url.replace("//", "//ci:wrong@")]) {
      expect(await codeOf(cache.resolve({ kind: "git", url: wrong, version: "main" }))).toBe("AUTH_FAILED");
    }
    const right = await cache.resolve({ kind: "git", url: url.replace("//", "//ci:s3cret@"), version: "main" });
    expect(right.resource.uri).toBe(url);
    expect(JSON.stringify([snapshot(root), right])).not.toContain("s3cret");
    expect(JSON.stringify(snapshot(root))).not.toContain(Buffer.from("ci:s3cret").toString("base64"));
  });

  test("follows a redirect to another host without the credentials", async () => {
    const repository = await project();
    await using target = await serve(repository);
    await using source = await serve(repository, {
      onRequest: ({ url }) => ({ redirect: `${target.url}${url}` }),
    });
    await using cache = openCache({ git });
    const url = source.at.replace("//", "//ci:s3cret@");
    expect(await versionOf(cache, url, "main")).toBe(await repository.revision());
    expect(source.requests.some(({ headers }) => headers["authorization"] !== undefined)).toBe(true);
    expect(target.requests.filter(({ headers }) => headers["authorization"] !== undefined)).toEqual([]);
  });

  test("asks a mirror and keeps the name that the author wrote", async () => {
    const repository = await project();
    await using server = await serve(repository);
    await using cache = openCache({ git, mirrors: { "https://gitlab.example/": `${server.url}/` } });
    const url = "https://ci:s3cret@gitlab.example/project.git";
    const { resource } = await cache.resolve({ kind: "git", url, version: "main" });
    expect([resource.uri, resource.downloadLocation]).toEqual(["https://gitlab.example/project.git", server.at]);
    expect(server.requests.filter(({ headers }) => headers["authorization"] !== undefined)).toEqual([]);
  });

  test("tells a missing repository, a broken server and a slow one apart", async () => {
    const repository = await project();
    await using server = await serve(repository, {
      onRequest({ url }) {
        if (url.startsWith("/slow")) return "hang";
        if (url.startsWith("/broken")) return { status: 500 };
        return url.startsWith("/cut") ? "reset" : undefined;
      },
    });
    await using cache = openCache({ git, limits: { fetchTimeoutMs: 2_000 } });
    const at = (name: string): Promise<unknown> =>
      codeOf(cache.resolve({ kind: "git", url: `${server.url}/${name}`, version: "main" }));
    expect(await Promise.all(["none.git", "broken.git", "cut.git", "slow.git"].map(at))).toEqual([
      "REPOSITORY_NOT_FOUND",
      "TRANSPORT",
      "TRANSPORT",
      "TRANSPORT",
    ]);
    const missing = { kind: "git", url: `file://${repository.dir}/none`, version: "main" } as const;
    expect(await codeOf(cache.resolve(missing))).toBe("REPOSITORY_NOT_FOUND");
  });

  test("stops when cancelled, and leaves others what they wait for", async () => {
    const repository = await project();
    await using server = await serve(repository, { delayMs: 100 });
    const root = join(tempDir(), "cache");
    await using cache = openCache({ git, root });
    const controller = new AbortController();
    const request = { kind: "git", url: server.at, version: "main" } as const;
    const given = codeOf(cache.resolve(request, { signal: controller.signal }));
    const wanted = cache.resolve(request);
    setTimeout(() => controller.abort(), 50);
    expect(await given).toBe("CANCELLED");
    expect((await wanted).resource.resolvedVersion).toBe(await repository.revision());
    expect(await codeOf(cache.resolve(request, { signal: AbortSignal.abort() }))).toBe("CANCELLED");
    expect(leftovers(root)).toEqual([]);
  });

  test("needs no server for what is here, and names what is missing", async () => {
    const repository = await project();
    const server = await serve(repository);
    const root = join(tempDir(), "cache");
    await using cache = openCache({ git, root });
    const commit = await versionOf(cache, server.at, "main");
    await server.close();
    await using offline = openCache({ git, root, isOffline: true });
    expect(await versionOf(offline, server.at, "main")).toBe(commit);
    expect(await versionOf(offline, server.at, commit)).toBe(commit);
    expect(await codeOf(offline.resolve({ kind: "git", url: server.at, version: "v2" }))).toBe("OFFLINE");
    await using online = openCache({ git, root });
    expect(await versionOf(online, server.at, commit)).toBe(commit);
    expect(await codeOf(online.resolve({ kind: "git", url: server.at, version: "main" }))).toBe("TRANSPORT");
  });

  test("refuses versions and URLs that look like options", async () => {
    const repository = await project();
    await using cache = openCache({ git });
    const canary = join(tempDir(), "canary");
    mkdirSync(dirname(canary), { recursive: true });
    const attempts = [
      { url: repository.url, version: `--upload-pack=touch ${canary}` },
      { url: repository.url, version: "-x" },
      { url: repository.url, version: "a..b" },
      { url: repository.url, version: "refs/heads/*" },
      { url: `ext::sh -c touch% ${canary}`, version: "main" },
      { url: "--upload-pack=x", version: "main" },
      { url: "ssh://-oProxyCommand=touch/x", version: "main" },
      { url: "ssh://-oProxyCommand@host/x", version: "main" },
      { url: "https://host/%0ahost=evil", version: "main" },
      { url: "ftp://host/x", version: "main" },
    ];
    for (const attempt of attempts) {
      expect([attempt, await codeOf(cache.resolve({ kind: "git", ...attempt }))]).toEqual([
        attempt,
        "REFERENCE_INVALID",
      ]);
    }
  });

  test("gives files as they are stored, whatever attributes say", async () => {
    const content = "$Id$\nline\n";
    const repository = await project({ ".gitattributes": "* text eol=crlf ident filter=evil\n", "a.txt": content });
    await using cache = openCache({ git });
    const { dir } = await cache.resolve({ kind: "git", url: repository.url, version: "main" });
    expect(snapshot(dir)["a.txt"]).toBe(content);
  });

  test("stops a transfer that is too large", async () => {
    const { randomBytes } = await import("node:crypto");
    const repository = await project({ "a.bin": randomBytes(300_000) });
    await using server = await serve(repository);
    const root = join(tempDir(), "cache");
    await using cache = openCache({ git, root, limits: { maxDownloadBytes: 100_000 } });
    const request = { kind: "git", url: server.at, version: "main" } as const;
    expect(await codeOf(cache.resolve(request))).toBe("ARCHIVE_TOO_LARGE");
    expect(leftovers(root)).toEqual([]);
  });

  test("keeps within its limits", async () => {
    const repository = await project({ "a.bin": "0123456789".repeat(100), "b.bin": "x" });
    const resolve = async (limits: object): Promise<unknown> => {
      await using cache = openCache({ git, limits });
      return await codeOf(cache.resolve({ kind: "git", url: repository.url, version: "main" }));
    };
    expect(await resolve({ maxFileBytes: 999 })).toBe("ARCHIVE_TOO_LARGE");
    expect(await resolve({ maxTotalBytes: 1000 })).toBe("ARCHIVE_TOO_LARGE");
    expect(await resolve({ maxEntries: 1 })).toBe("ARCHIVE_TOO_LARGE");
    expect(await resolve({ maxEntries: 2, maxFileBytes: 1000, maxTotalBytes: 1001 })).toHaveProperty("value");
  });
});

test("resolve() reads a SHA-256 repository by the git program, and refuses it without", async () => {
  const repository = await createGitRepository(join(tempDir(), "project"), FILES, { objectFormat: "sha256" });
  await using cache = openCache({ git: "system" });
  const { resource } = await cache.resolve({ kind: "git", url: repository.url, version: "main" });
  const tree = await repository.git(["rev-parse", "HEAD^{tree}"]);
  expect([resource.resolvedVersion, resource.digest["gitTree"], resource.nativeTreeId]).toEqual([
    await repository.revision(),
    tree,
    tree,
  ]);
  await using other = openCache({ git: "isomorphic" });
  await expect(other.resolve({ kind: "git", url: repository.url, version: "main" })).rejects.toThrow(/Cannot/);
});

test("resolve() takes isomorphic-git by itself where there is no git program", async () => {
  const repository = await project();
  const empty = { PATH: tempDir() };
  await using cache = openCache({ env: empty });
  expect(await versionOf(cache, repository.url, "main")).toBe(await repository.revision());
  await using strict = openCache({ env: empty, git: "system" });
  expect(await codeOf(strict.resolve({ kind: "git", url: repository.url, version: "main" }))).toBe("GIT_MISSING");
});

test("resolve() gives the git program no secret argument and nothing of the caller's environment", async () => {
  const repository = await project();
  await using server = await serve(repository, { auth: { username: "ci", password: "s3cret" } });
  const bin = tempDir();
  const log = join(bin, "log");
  const path = process.env["PATH"] ?? "";
  const script = `#!/bin/sh\n{ echo "$@"; env | cut -d= -f1; } >> ${log}\nPATH='${path}' exec git "$@"\n`;
  writeFileSync(join(bin, "git"), script, { mode: 0o755 });
  const env = {
    PATH: `${bin}:${path}`,
    HOME: "/root",
    CI_JOB_TOKEN: "s3cret",
    GIT_DIR: "/",
    CANARY: "1",
    LD_PRELOAD: "",
  };
  await using cache = openCache({ git: "system", env });
  await versionOf(cache, server.at.replace("//", "//ci:s3cret@"), "main");
  const seen = readFileSync(log, "utf8");
  expect(seen).toContain("ls-remote");
  expect(seen).toContain("cat-file");
  expect(seen).not.toMatch(/s3cret|CANARY|CI_JOB_TOKEN|GIT_DIR|LD_PRELOAD/);
  expect(seen).not.toContain(Buffer.from("ci:s3cret").toString("base64"));
});

test("resolve() starts no process for a commit that is here", async () => {
  const repository = await project();
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root });
  const version = await versionOf(cache, repository.url, "main");
  const bin = tempDir();
  writeFileSync(join(bin, "git"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  await using later = openCache({ root, env: { PATH: bin } });
  expect(await versionOf(later, repository.url, version)).toBe(version);
  expect(await codeOf(later.resolve({ kind: "git", url: repository.url, version: "main" }))).toBe("TRANSPORT");
});

test("resolve() makes a new store when a killed fetch left the old one locked", async () => {
  const repository = await project();
  const root = join(tempDir(), "cache");
  await using cache = openCache({ root, git: "system" });
  await versionOf(cache, repository.url, "main");
  const { readdirSync } = await import("node:fs");
  const store = join(root, "git", readdirSync(join(root, "git"))[0] as string);
  writeFileSync(join(store, "shallow.lock"), "");
  const second = await repository.commit({ "step.yml": "2\n" });
  await using fresh = openCache({ root, git: "system" });
  expect(await versionOf(fresh, repository.url, "main")).toBe(second);
});
