import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildZip, createGitRepository, type GitRepository, startFileServer, startGitHttpServer } from "@steps/testkit";
import { type ImageContent, startImageRegistry } from "./image-registry.ts";
import { isRecord } from "./read-cases.ts";

/** Everything around the command of one case: its folder, its home, its servers. */
export interface World extends AsyncDisposable {
  /** The current directory of the commands. */
  readonly dir: string;
  readonly home: string;
  /** The path for a program that starts the command. */
  readonly launcher: string;
  /** Fills in `{{dir}}`, `{{git}}`, `{{http}}`, `{{commit:REPO@REV}}`, `{{short:REPO@REV}}`, `{{sha256:FILE}}`, `{{registry}}`, `{{digest:REPO:TAG}}`. */
  readonly fill: (text: string) => string;
  lay(files: unknown): void;
  /** Commits to repositories, making those that are not there; then moves their tags and branches. */
  commit(repositories: unknown): Promise<void>;
  /** Builds archives into the folder and serves them. */
  pack(archives: unknown): void;
  /** Puts images into the registry. */
  store(images: unknown): void;
}

type Servers = Readonly<Record<"git" | "http", { readonly url: string; close(): Promise<void> } | undefined>>;

/** Makes the world of a case below a scratch folder. */
export async function createWorld(
  scratch: string,
  needs: { readonly git: boolean; readonly http: boolean; readonly registry: boolean },
): Promise<World> {
  const [dir, home, repos] = ["work", "home", "repos"].map((name) => join(scratch, name)) as [string, string, string];
  for (const path of [dir, home, repos]) mkdirSync(path);
  const fileServer = needs.http ? await startFileServer({}) : undefined;
  const servers: Servers = { git: needs.git ? await startGitHttpServer(repos) : undefined, http: fileServer };
  const registry = needs.registry ? await startImageRegistry() : undefined;
  const repositories = new Map<string, GitRepository>();
  const commits = new Map<string, string>();
  const fill = (text: string): string => fillText(text, { dir, servers, commits, registry });
  return {
    dir,
    home,
    launcher: join(scratch, "command"),
    fill,
    lay: (files) => layFiles(dir, files, fill),
    async commit(wanted) {
      for (const [path, change] of membersOf(wanted, "git")) {
        const known = repositories.get(path) ?? (await createGitRepository(join(repos, path)));
        repositories.set(path, known);
        await applyCommit(known, { path, change, fill, commits });
      }
    },
    pack(archives) {
      for (const [name, content] of membersOf(archives, "zip")) {
        const bytes = packZip(content, fill);
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), bytes);
        fileServer?.set(`/${name}`, bytes);
      }
    },
    store(images) {
      for (const [repository, image] of membersOf(images, "oci")) {
        const { tags = ["latest"] } = isRecord(image) ? image : {};
        for (const tag of tags as readonly string[]) registry?.put(repository, tag, readImages(image, fill));
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([servers.git?.close(), servers.http?.close(), registry?.close()]);
    },
  };
}

interface FileContent {
  readonly content: string;
  readonly executable: boolean;
}

function readContent(file: unknown, fill: (text: string) => string): FileContent {
  if (typeof file === "string") return { content: fill(file), executable: false };
  if (!isRecord(file) || typeof file["content"] !== "string") throw new Error("A file is a text or has content");
  return { content: fill(file["content"]), executable: file["executable"] === true };
}

function layFiles(dir: string, files: unknown, fill: (text: string) => string): void {
  for (const [path, file] of membersOf(files, "files")) {
    const { content, executable } = readContent(file, fill);
    const target = join(dir, path);
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { force: true });
    writeFileSync(target, content);
    chmodSync(target, executable ? 0o755 : 0o644);
  }
}

interface CommitWork {
  readonly path: string;
  readonly change: unknown;
  readonly fill: (text: string) => string;
  readonly commits: Map<string, string>;
}

async function applyCommit(repository: GitRepository, { path, change, fill, commits }: CommitWork): Promise<void> {
  const { files = {}, tags = [], annotatedTags = [], branches = [] } = isRecord(change) ? change : {};
  const contents = membersOf(files, "files").map(([name, file]) => {
    const { content, executable } = readContent(file, fill);
    return [name, { content, mode: executable ? "100755" : "100644" }] as const;
  });
  const commit = await repository.commit(Object.fromEntries(contents));
  for (const name of tags as readonly string[]) await repository.tag(name, { isForced: true });
  for (const name of annotatedTags as readonly string[]) {
    await repository.tag(name, { isForced: true, isAnnotated: true });
  }
  for (const name of branches as readonly string[]) await repository.branch(name);
  for (const name of ["main", ...(tags as string[]), ...(annotatedTags as string[]), ...(branches as string[])]) {
    commits.set(`${path}@${name}`, commit);
  }
}

function packZip(content: unknown, fill: (text: string) => string): Buffer {
  const files = isRecord(content) ? content["files"] : undefined;
  return buildZip(
    membersOf(files, "files").map(([name, file]) => {
      const { content: text, executable } = readContent(file, fill);
      return { name, content: text, mode: executable ? 0o100755 : 0o100644 };
    }),
  );
}

// One image of `files` or `layers`, or one for each of `platforms`.
function readImages(image: unknown, fill: (text: string) => string): ImageContent[] {
  if (!isRecord(image)) throw new Error("An image is no mapping");
  const read = (files: unknown): ImageContent["layers"][number] =>
    membersOf(files, "files").map(([name, file]) => ({ name, ...readContent(file, fill) }));
  const platforms = membersOf(image["platforms"], "platforms");
  if (platforms.length > 0) return platforms.map(([platform, files]) => ({ platform, layers: [read(files)] }));
  const layers = Array.isArray(image["layers"]) ? image["layers"] : [image["files"]];
  return [{ platform: undefined, layers: layers.map(read) }];
}

interface Places {
  readonly registry: Awaited<ReturnType<typeof startImageRegistry>> | undefined;
  readonly dir: string;
  readonly servers: Servers;
  readonly commits: ReadonlyMap<string, string>;
}

function fillText(text: string, { dir, servers, commits, registry }: Places): string {
  return text.replace(/(?<!\$)\{\{([a-z0-9]+)(?::([^}]+))?\}\}/g, (whole, name: string, of: string | undefined) => {
    if (name === "dir") return dir;
    if (name === "git" || name === "http") return servers[name]?.url ?? fail(`the case has no ${name} server`);
    if (name === "registry") return registry?.host ?? fail("the case has no registry");
    if (name === "digest" && of !== undefined) {
      const [repository = "", tag = ""] = of.split(":");
      return registry?.digestOf(repository, tag) ?? fail(`no image ${of}`);
    }
    if (name === "sha256" && of !== undefined) {
      return createHash("sha256")
        .update(readFileSync(join(dir, of)))
        .digest("hex");
    }
    if ((name !== "commit" && name !== "short") || of === undefined) return whole;
    const commit = commits.get(of) ?? fail(`no commit ${of}`);
    return name === "short" ? commit.slice(0, 10) : commit;
  });
}

function membersOf(value: unknown, what: string): [string, unknown][] {
  if (value === undefined) return [];
  if (!isRecord(value)) throw new Error(`${what} is no mapping`);
  return Object.entries(value);
}

function fail(message: string): never {
  throw new Error(message);
}
