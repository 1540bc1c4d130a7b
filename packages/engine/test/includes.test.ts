import { createHash } from "node:crypto";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createCache } from "@steps/cache";
import { createIncludes, type Includes, type IncludesOptions } from "@steps/engine/includes";
import { loadPipeline } from "@steps/gitlab-ci/load";
import {
  createGitRepository,
  type Intervention,
  type ServedRequest,
  startFileServer,
  startGitHttpServer,
  tempDir,
} from "@steps/testkit";
import { describe, expect, test } from "vitest";

function lay(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

type Options = Partial<IncludesOptions> & { readonly cacheDir?: string; readonly isOffline?: boolean };

function open({ cacheDir = join(tempDir(), "cache"), isOffline, ...options }: Options): Includes {
  const cache = options.cache ?? createCache({ root: cacheDir, isOffline });
  return createIncludes({ root: tempDir(), allowsHttp: true, nameOf: (path) => path, ...options, cache });
}

interface Loaded {
  readonly jobs: readonly string[];
  readonly messages: readonly string[];
  readonly hints: readonly (string | undefined)[];
  readonly names: readonly string[];
}

async function load(include: string, options: Options): Promise<Loaded> {
  const includes = open(options);
  const source = { name: ".gitlab-ci.yml", text: `include: ${include}\nown: {script: s}\n` };
  const { loadFile, listFiles } = includes;
  const { pipeline, diagnostics } = await loadPipeline(source, { loadFile, listFiles, variables: { DIR: "ci" } });
  return {
    jobs: [...(pipeline?.jobs.keys() ?? [])],
    messages: diagnostics.map(({ message }) => message),
    hints: diagnostics.map(({ hint }) => hint),
    names: includes.files().map(({ name }) => name),
  };
}

const job = (name: string): string => `${name}: {script: s}\n`;

describe("createIncludes() with local files", () => {
  test("reads files of the project, with variables and wildcards in their paths", async () => {
    const root = tempDir();
    lay(root, { "ci/a.yml": job("a"), "ci/x/b.yml": job("b"), ".git/c.yml": job("c") });
    expect((await load("$DIR/a.yml", { root })).jobs).toEqual(["a", "own"]);
    expect(await load("'**.yml'", { root })).toMatchObject({ jobs: ["a", "b", "own"], messages: [] });
  });

  test("follows links inside of the project only", async () => {
    const root = tempDir();
    const project = join(root, "project");
    lay(root, { "outside/a.yml": job("a"), "project/ci/b.yml": job("b"), "project-2/c.yml": "" });
    symlinkSync("../outside/a.yml", join(project, "a.yml"));
    symlinkSync("../outside", join(project, "folder"));
    symlinkSync("../project-2/c.yml", join(project, "c.yml"));
    symlinkSync("ci/b.yml", join(project, "b.yml"));
    for (const path of ["a.yml", "c.yml", "folder/a.yml"]) {
      const { messages } = await load(path, { root: project });
      expect(messages).toEqual([`Cannot include "${path}": A link leads out of the project`]);
    }
    expect((await load("'folder/*.yml'", { root: project })).jobs).toEqual(["own"]);
    expect((await load("b.yml", { root: project })).jobs).toEqual(["b", "own"]);
  });

  test("says what is not there or no file", async () => {
    const root = tempDir();
    lay(root, { "folder.yml/x": "" });
    expect((await load("no.yml", { root })).messages).toEqual([`Cannot include "no.yml": The file does not exist`]);
    expect((await load("folder.yml", { root })).messages).toEqual([`Cannot include "folder.yml": It is not a file`]);
  });
});

describe("createIncludes() with projects", () => {
  test("takes a branch, a tag or a commit, and looks up local files in the same commit", async () => {
    const folder = tempDir();
    const repository = await createGitRepository(join(folder, "group/ci"), {
      "all.yml": `include: {local: /parts/a.yml}\n${job("all")}`,
      "parts/a.yml": job("first"),
    });
    const first = await repository.tag("v1");
    await repository.commit({ "parts/a.yml": job("second"), "all.yml": `include: "parts/*.yml"\n` });
    await using server = await startGitHttpServer(folder);
    const cacheDir = join(tempDir(), "cache");
    const options = { cacheDir, server: { host: "127.0.0.1", project: "group/own", gitBase: `${server.url}/` } };
    const tagged = await load("{project: group/ci, ref: v1, file: [/all.yml]}", options);
    expect(tagged).toMatchObject({ jobs: ["first", "all", "own"], messages: [] });
    expect(tagged.names).toEqual([
      `group/ci@${first.slice(0, 12)}:all.yml`,
      `group/ci@${first.slice(0, 12)}:parts/a.yml`,
    ]);
    expect((await load("{project: group/ci, file: all.yml}", options)).jobs).toEqual(["second", "own"]);
    expect((await load(`{project: group/ci, ref: ${first}, file: all.yml}`, options)).jobs).toContain("first");
    await server.close();
    const offline = await load("{project: group/ci, ref: v1, file: all.yml}", { ...options, isOffline: true });
    expect(offline.jobs).toEqual(["first", "all", "own"]);
    const missing = await load("{project: group/none, file: all.yml}", { ...options, isOffline: true });
    expect(missing.messages).toEqual([
      `Cannot include "all.yml" of the project "group/none": It is not in the cache, and the run is offline`,
    ]);
  });

  test("says what is missing: a project, a ref, a file, a server", async () => {
    const folder = tempDir();
    const repository = await createGitRepository(join(folder, "group/ci"), { "a.yml": job("a") });
    await using git = await startGitHttpServer(folder);
    const server = { host: "127.0.0.1", gitBase: `${git.url}/` };
    const of = async (include: string): Promise<string> => (await load(include, { server })).messages.join("\n");
    expect(await of("{project: group/none, file: a.yml}")).toMatch(/repository .* not found/i);
    expect(await of("{project: group/ci, ref: none, file: a.yml}")).toMatch(/there is no such tag, branch or commit$/i);
    expect(await of("{project: group/ci, file: none.yml}")).toContain(
      `There is no such file at ${(await repository.revision()).slice(0, 12)}`,
    );
    expect(await of("{project: ../ci, file: a.yml}")).toContain("It is not the path of a project");
    const { messages, hints } = await load("{project: group/ci, file: a.yml}", {});
    expect(messages[0]).toMatch(/Nothing says on which server the project is$/);
    expect(hints[0]).toContain("--include-map");
  });

  test("takes a folder for a project, as it is", async () => {
    const root = tempDir();
    lay(root, { "map/a.yml": `include: b.yml\n${job("a")}`, "map/b.yml": job("b"), "secret.yml": job("secret") });
    symlinkSync("../secret.yml", join(root, "map/link.yml"));
    const folders = { "Group/ci": join(root, "map") };
    expect((await load("{project: group/ci, ref: any, file: a.yml}", { folders })).jobs).toEqual(["b", "a", "own"]);
    expect((await load("{project: group/ci, file: link.yml}", { folders })).messages[0]).toContain("leads out");
  });

  test("shows no credentials, and says which were sent", async () => {
    await using server = await startFileServer({}, { onRequest: () => ({ status: 401 }) });
    const gitBase = server.url.replace("://", "://me:secret@") + "/";
    const { messages, hints } = await load("{project: group/ci, file: a.yml}", { server: { host: "h", gitBase } });
    expect(messages[0]).toMatch(/access was denied/i);
    expect(hints[0]).toMatch(/^The credentials of the URL were sent/);
    expect(JSON.stringify([messages, hints])).not.toContain("secret");
    const without = await load("{project: group/ci, file: a.yml}", {
      server: { host: "h", gitBase: `${server.url}/` },
    });
    expect(without.hints[0]).toMatch(
      /^--project-url https:\/\/user:token@host\/group\/project gives credentials\. .*STEP_RUNNER_MIRROR=http/,
    );
  });
});

describe("createIncludes() with components", () => {
  async function catalog(): Promise<{ readonly folder: string; readonly latest: string }> {
    const folder = tempDir();
    const text = (name: string): string => `spec: {component: [name, version, reference, sha]}\n---\n${name}:\n`;
    const body = `  script: ["$[[ component.name ]] $[[ component.version ]] $[[ component.reference ]] $[[ component.sha ]]"]\n`;
    const repository = await createGitRepository(join(folder, "group/parts"), {
      "templates/build.yml": text("build-1.0.0") + body,
      "templates/test/template.yml": text("test") + body,
    });
    await repository.tag("1.0.0");
    for (const version of ["1.2.0", "1.10.3", "2.0.0", "3.0.0-rc.1"]) {
      await repository.commit({ "templates/build.yml": text(`build-${version}`) + body });
      await repository.tag(version);
    }
    await repository.branch("1.0");
    return { folder, latest: await repository.revision() };
  }

  test("finds a commit, tag or branch before a part of a version, and takes the newest version of a part", async () => {
    const { folder, latest } = await catalog();
    await using git = await startGitHttpServer(folder);
    const host = new URL(git.url).host;
    const options = { cacheDir: join(tempDir(), "cache"), server: { host, gitBase: `${git.url}/` } };
    const jobs = async (version: string): Promise<readonly string[]> => {
      const { jobs: found, messages } = await load(`{component: ${host}/group/parts/build@${version}}`, options);
      return found.length > 0 ? found.slice(0, 1) : messages;
    };
    expect(await jobs("1.0.0")).toEqual(["build-1.0.0"]);
    expect(await jobs("1")).toEqual(["build-1.10.3"]);
    expect(await jobs("1.2")).toEqual(["build-1.2.0"]);
    // There is a branch of that name.
    expect(await jobs("1.0")).toEqual(["build-3.0.0-rc.1"]);
    expect(await jobs("~latest")).toEqual(["build-2.0.0"]);
    expect(await jobs("main")).toEqual(["build-3.0.0-rc.1"]);
    expect(await jobs(latest)).toEqual(["build-3.0.0-rc.1"]);
    expect((await jobs("4"))[0]).toMatch(/: The project group\/parts has no version 4\.x$/);
    expect((await jobs("none"))[0]).toMatch(/there is no such tag, branch or commit$/i);
    const dir = await load(`{component: ${host}/group/parts/test@1.0.0}`, options);
    expect(dir.jobs).toEqual(["test", "own"]);
    const none = await load(`{component: ${host}/group/parts/none@1.0.0}`, options);
    expect(none.messages[0]).toMatch(/has neither templates\/none.yml nor templates\/none\/template.yml$/);
    await git.close();
    const offline = await load(`{component: ${host}/group/parts/build@1}`, { ...options, isOffline: true });
    expect(offline.jobs).toEqual(["build-1.10.3", "own"]);
  });

  test("tells a file of its component, and reads one of the same project at the same commit in the folder", async () => {
    const root = tempDir();
    const commit = "a".repeat(40);
    const spec = "spec: {component: [name, version, reference, sha]}\n---\n";
    lay(root, { "templates/own.yml": `${spec}"$[[ component.name ]]-$[[ component.reference ]]": {script: s}\n` });
    const server = { host: "gitlab.example", project: "group/own", gitBase: "https://gitlab.example/" };
    const { jobs } = await load(`{component: gitlab.example/group/own/own@${commit}}`, { root, server, commit });
    expect(jobs[0]).toBe(`own-${commit}`);
  });

  test.each([
    ["gitlab.example/group/own/name", "It names no version"],
    ["gitlab.example/name@1", "It is no address"],
    ["gitlab.example/group/../x/name@1", "It is no address"],
    ["ht tp/group/x/name@1", "It is no address"],
  ])("refuses %s", async (address, problem) => {
    const { messages } = await load(`{component: "${address}"}`, {});
    expect(messages).toEqual([`Cannot include the component "${address}": ${problem}`]);
  });
});

describe("createIncludes() with remote files and templates", () => {
  const integrityOf = (text: string): string => `sha256-${createHash("sha256").update(text).digest("base64")}`;

  test("compares a file with its integrity", async () => {
    await using server = await startFileServer({ "/a.yml": job("a") });
    const url = `${server.url}/a.yml`;
    expect((await load(url, {})).jobs).toEqual(["a", "own"]);
    const right = await load(`{remote: "${url}", integrity: "${integrityOf(job("a"))}"}`, { allowsHttp: false });
    expect(right).toMatchObject({ jobs: ["a", "own"], names: [url] });
    const wrong = await load(`{remote: "${url}", integrity: "${integrityOf("b")}"}`, {});
    expect(wrong.messages[0]).toMatch(/Its SHA-256 is [0-9a-f]{64}, expected [0-9a-f]{64}$/);
  });

  test("takes plain http only where that is allowed", async () => {
    const { messages, hints } = await load("http://localhost:1/a.yml", { allowsHttp: false });
    expect(messages).toEqual([
      `Cannot include "http://localhost:1/a.yml": Over plain HTTP anybody on the way can change it`,
    ]);
    expect(hints[0]).toContain("--include-http");
  });

  test("says what is wrong with a server", async () => {
    const answers: Record<string, number> = { "/401.yml": 401, "/500.yml": 500 };
    const onRequest = ({ url }: ServedRequest): Intervention | undefined => {
      if (url === "/loop.yml") return { redirect: "/loop.yml" };
      const status = answers[url];
      return status === undefined ? undefined : { status };
    };
    await using server = await startFileServer({ "/large.yml": "x".repeat(5_000_000) }, { onRequest });
    const of = async (name: string): Promise<string | undefined> =>
      (await load(`${server.url}/${name}`, {})).messages[0];
    expect(await of("none.yml")).toMatch(/has no such file$/);
    expect(await of("401.yml")).toMatch(/The server answered 401$/);
    expect(await of("500.yml")).toMatch(/The server answered 500$/);
    expect(await of("loop.yml")).toMatch(/It redirects too often$/);
    expect(await of("large.yml")).toMatch(/It is larger than \d+ bytes$/);
    await server.close();
    expect(await of("a.yml")).toMatch(/Nothing answers at 127\.0\.0\.1:\d+$/);
    expect((await load("https://no-such-host.invalid/a.yml", {})).messages[0]).toMatch(
      /The host no-such-host\.invalid is unknown$/,
    );
  });

  test("gives up after the time for all of it", async () => {
    await using server = await startFileServer({}, { onRequest: () => "hang" });
    const { messages } = await load(`${server.url}/a.yml`, { timeoutMs: 50 });
    expect(messages[0]).toMatch(/All of it took longer than 0 s$/);
  });

  test("cannot include local files from a file of no project", async () => {
    await using server = await startFileServer({ "/a.yml": "include: b.yml\n" });
    expect((await load(`${server.url}/a.yml`, {})).messages[0]).toMatch(/A file of no project cannot include/);
  });

  test("takes templates from a mirror or a folder", async () => {
    const root = tempDir();
    lay(root, { "Jobs/Build.gitlab-ci.yml": job("build") });
    const folder = await load("{template: Jobs/Build.gitlab-ci.yml}", { folders: { template: root } });
    expect(folder).toMatchObject({ jobs: ["build", "own"], names: ["template:Jobs/Build.gitlab-ci.yml"] });
    await using server = await startFileServer({ "/t/Jobs/Build.gitlab-ci.yml": job("mirrored") });
    const prefix = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/lib/gitlab/ci/templates/";
    const cache = createCache({ root: join(tempDir(), "cache"), mirrors: { [prefix]: `${server.url}/t/` } });
    expect((await load("{template: Jobs/Build.gitlab-ci.yml}", { cache })).jobs).toEqual(["mirrored", "own"]);
    const offline = await load("{template: Bash.gitlab-ci.yml}", { isOffline: true });
    expect(offline.messages).toEqual([
      `Cannot include the template "Bash.gitlab-ci.yml": It is not in the cache, and the run is offline`,
    ]);
  });
});
