import { messageOf } from "@steps/model";
import type isomorphicGit from "isomorphic-git";
import fs from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CacheContext } from "../context.ts";
import { type Limits, type Remote, throwIfCancelled } from "@steps/transfer";
import { CacheError, isCacheError } from "../cache-error.ts";
import { withoutCredentials } from "../credentials/credential.ts";
import { assertPack } from "./assert-pack.ts";
import { uniquePath } from "../store/layout.ts";
import { removeTree } from "../store/remove.ts";
import type { GitBackend, Obtained, TransferOptions } from "./git-backend.ts";
import { gitFailure, isRefusedCommit } from "./git-failure.ts";
import type { GitObjectType, ObjectSource } from "./git-objects.ts";
import { algorithmOf } from "./commit-proof.ts";
import { isFullId, mismatch } from "./git-objects.ts";
import type { IsomorphicHttp } from "./isomorphic-http.ts";
import { createIsomorphicHttp } from "./isomorphic-http.ts";
import { createStore } from "./git-store.ts";
import { type Attempt, withUserCredentials } from "./with-user-credentials.ts";

// A pack is held in memory several times over.
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

type Context = Pick<CacheContext, "layout" | "limits" | "env" | "userCredentials">;
type Isomorphic = typeof isomorphicGit;

/**
 * Speaks to repositories where there is no `git` program: over HTTP, and to repositories on the disk by reading them.
 * Fetched objects are kept only until they are unpacked.
 */
export function createIsomorphicGit(context: Context): GitBackend {
  return {
    async listRefs(remote, names, options) {
      const git = await load();
      if (remote.scheme === "file") return await localRefs(git, await gitDirOf(remote), names);
      return await serverRefs(git, remote, { names, context, options });
    },
    async listTags(remote, options) {
      const git = await load();
      if (remote.scheme === "file") return await git.listTags(storeAt(await gitDirOf(remote)));
      const { value } = await talk(remote, { ...options, context }, (http) =>
        git.listServerRefs({ http, url: remote.url, protocolVersion: 1 }),
      );
      return value.flatMap(({ ref }) => (ref.startsWith("refs/tags/") ? [ref.slice("refs/tags/".length)] : []));
    },
    async obtain(remote, commit, options) {
      const git = await load();
      if (algorithmOf(commit) !== "sha1") {
        throw new CacheError(
          "GIT_MISSING",
          `Cannot fetch "${remote.location}": a SHA-256 repository needs the git program`,
        );
      }
      if (remote.scheme === "file") {
        const gitdir = await gitDirOf(remote);
        if (await has(git, gitdir, commit)) return { source: openStore(git, gitdir), bytes: 0, isReused: false };
        throw notFound(remote, commit);
      }
      return await download(git, remote, { ...options, context, commit });
    },
    async findCommits(remote, prefix, options) {
      const git = await load();
      if (remote.scheme === "file") return await commitsIn(git, await gitDirOf(remote), prefix);
      const gitdir = uniquePath(context.layout.tmp);
      try {
        await fetchHistory(git, remote, { ...options, context, gitdir });
        return await commitsIn(git, gitdir, prefix);
      } finally {
        await removeTree(gitdir);
      }
    },
  };
}

// Only where it is needed: it is a large module.
async function load(): Promise<Isomorphic> {
  return (await import("isomorphic-git")).default;
}

interface Transfer extends TransferOptions {
  readonly context: Context;
  readonly gitdir: string;
}

async function download(
  git: Isomorphic,
  remote: Remote,
  options: TransferOptions & { readonly context: Context; readonly commit: string },
): Promise<Obtained> {
  const { context, commit } = options;
  const gitdir = uniquePath(context.layout.tmp);
  try {
    let bytes = await fetchCommit(git, remote, { ...options, gitdir });
    if (bytes === undefined || !(await has(git, gitdir, commit))) {
      await removeTree(gitdir);
      bytes = await fetchHistory(git, remote, { ...options, gitdir });
      if (!(await has(git, gitdir, commit))) throw notFound(remote, commit);
    }
    const source = openStore(git, gitdir);
    return { bytes, isReused: false, source: { ...source, [Symbol.asyncDispose]: () => removeTree(gitdir) } };
  } catch (error) {
    await removeTree(gitdir);
    throw error;
  }
}

/** Fetches one commit; `undefined` when the server does not give single commits. */
async function fetchCommit(
  git: Isomorphic,
  remote: Remote,
  { commit, ...transfer }: Transfer & { readonly commit: string },
): Promise<number | undefined> {
  try {
    await createStore(transfer.gitdir);
    const { bytes } = await talk(remote, transfer, (http) =>
      git.fetch({
        ...receivingAt(transfer.gitdir, transfer.context.limits),
        http,
        url: remote.url,
        ref: commit,
        singleBranch: true,
        depth: 1,
      }),
    );
    return bytes;
  } catch (error) {
    if (isCacheError(error, "TRANSPORT") && isRefusal(error)) return undefined;
    throw error;
  }
}

/** Old servers say that they do not know the commit, or just end their answer early. */
function isRefusal(error: CacheError): boolean {
  const text = `${error.message} ${error.cause === undefined ? "" : messageOf(error.cause)}`;
  return isRefusedCommit(text) || /shallow|packfile|ERR|expected|parse|undefined/i.test(text);
}

async function fetchHistory(git: Isomorphic, remote: Remote, transfer: Transfer): Promise<number> {
  await createStore(transfer.gitdir);
  const { value: refs } = await talk(remote, transfer, (http) =>
    git.listServerRefs({ http, url: remote.url, protocolVersion: 1 }),
  );
  const first = refs.find(({ ref }) => ref === "HEAD" || ref.startsWith("refs/heads/")) ?? refs[0];
  if (first === undefined) return 0;
  const { bytes } = await talk(remote, transfer, (http) =>
    git.fetch({
      ...receivingAt(transfer.gitdir, transfer.context.limits),
      http,
      url: remote.url,
      remoteRef: first.ref,
      tags: true,
    }),
  );
  return bytes;
}

/** Runs something over the wire, with our limits, and turns what goes wrong into an error of ours. */
async function talk<T>(
  remote: Remote,
  { context, signal, onProgress }: Pick<Transfer, "context"> & TransferOptions,
  run: (http: IsomorphicHttp) => Promise<T>,
): Promise<{ value: T; bytes: number }> {
  const attempt = async (
    asked: Remote,
  ): Promise<Attempt<{ value: T; bytes: number } | { error: unknown; text: string }>> => {
    const http = createIsomorphicHttp(asked, {
      maxBytes: Math.min(context.limits.maxDownloadBytes, MAX_MEMORY_BYTES),
      signal,
      onProgress,
    });
    try {
      const value = await Promise.race([run(http), http.failure]);
      return { value: { value, bytes: http.bytes() }, hasFailed: false };
    } catch (error) {
      throwIfCancelled(signal);
      const text = withoutCredentials(messageOf(error), asked.authorization);
      return { value: { error, text }, hasFailed: true, refusedBy: http.refusedBy() };
    }
  };
  const { value, search } = await withUserCredentials(context, remote, { signal, attempt });
  if (!("error" in value)) return value;
  const { error, text } = value;
  if (isCacheError(error)) throw error;
  throw gitFailure(remote, text, { cause: text === messageOf(error) ? error : undefined, search });
}

async function serverRefs(
  git: Isomorphic,
  remote: Remote,
  { names, context, options }: { names: readonly string[]; context: Context; options: TransferOptions },
): Promise<Map<string, string>> {
  const { value } = await talk(remote, { ...options, context }, (http) =>
    git.listServerRefs({ http, url: remote.url, protocolVersion: 1, peelTags: true }),
  );
  const refs = new Map<string, string>();
  for (const { ref, oid, peeled } of value) {
    if (names.includes(ref)) refs.set(ref, oid);
    if (peeled !== undefined && names.includes(`${ref}^{}`)) refs.set(`${ref}^{}`, peeled);
  }
  return refs;
}

async function localRefs(git: Isomorphic, gitdir: string, names: readonly string[]): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  for (const name of names.filter((each) => !each.endsWith("^{}"))) {
    const id = await git.resolveRef({ ...storeAt(gitdir), ref: name }).catch(() => undefined);
    // A name that is 40 digits resolves to itself.
    if (id === undefined || id === name || !isFullId(id)) continue;
    refs.set(name, id);
    const peeled = await peel(git, gitdir, id);
    if (peeled !== id) refs.set(`${name}^{}`, peeled);
  }
  return refs;
}

async function peel(git: Isomorphic, gitdir: string, id: string): Promise<string> {
  const { type, object } = await git.readObject({ ...storeAt(gitdir), oid: id, format: "content" });
  if (type !== "tag") return id;
  const header = Buffer.from(object as Uint8Array).toString("latin1", 0, 64);
  const target = /^object ([0-9a-f]{40})\n/.exec(header)?.[1];
  return target === undefined || target === id ? id : await peel(git, gitdir, target);
}

async function gitDirOf(remote: Remote): Promise<string> {
  const path = fileURLToPath(remote.url);
  for (const gitdir of [join(path, ".git"), path, `${path}.git`]) {
    const head = await stat(join(gitdir, "HEAD")).catch(() => undefined);
    if (head?.isFile() === true) return gitdir;
  }
  throw new CacheError("REPOSITORY_NOT_FOUND", `Cannot read "${remote.location}": there is no git repository`);
}

async function has(git: Isomorphic, gitdir: string, commit: string): Promise<boolean> {
  return await git.readObject({ ...storeAt(gitdir), oid: commit, format: "content" }).then(
    () => true,
    () => false,
  );
}

async function commitsIn(git: Isomorphic, gitdir: string, prefix: string): Promise<string[]> {
  const found = await git.expandOid({ ...storeAt(gitdir), oid: prefix }).then(
    (id) => [id],
    (error: { data?: { matches?: string[] } }) => error.data?.matches ?? [],
  );
  const commits: string[] = [];
  for (const id of found) {
    const { type } = await git.readObject({ ...storeAt(gitdir), oid: id, format: "content" });
    if (type === "commit") commits.push(id);
  }
  return commits;
}

function openStore(git: Isomorphic, gitdir: string): ObjectSource {
  const store = { ...storeAt(gitdir), cache: {} };
  return {
    async *read(ids) {
      for (const id of ids) {
        const { type, object } = await git
          .readObject({ ...store, oid: id, format: "content" })
          .catch((error: unknown) => {
            throw mismatch(`object "${id}" is missing or damaged (${messageOf(error).slice(0, 120)})`);
          });
        const bytes = object as Uint8Array;
        yield { id, type: type as GitObjectType, size: bytes.byteLength, content: once(bytes) };
      }
    },
    async [Symbol.asyncDispose]() {
      // Nothing is held open.
    },
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type FileSystem = { readonly promises: typeof fs.promises };

function storeAt(gitdir: string): { fs: FileSystem; gitdir: string } {
  return { fs, gitdir };
}

/** A store to fetch into: a pack is looked at when it is written, which is before it is unpacked. */
function receivingAt(gitdir: string, limits: Limits): { fs: FileSystem; gitdir: string } {
  const writeFile: typeof fs.promises.writeFile = async (path, data, options) => {
    if (typeof path === "string" && path.endsWith(".pack") && data instanceof Uint8Array) assertPack(data, limits);
    await fs.promises.writeFile(path, data, options);
  };
  return { fs: { promises: { ...fs.promises, writeFile } }, gitdir };
}

function notFound(remote: Remote, commit: string): CacheError {
  return new CacheError("REFERENCE_NOT_FOUND", `Cannot find commit "${commit}" in "${remote.location}"`);
}
