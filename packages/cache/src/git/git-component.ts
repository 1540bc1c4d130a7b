import type { Resource } from "@steps/model/event";
import { versionProblem } from "@steps/model/reference";
import type { RequestOf } from "@steps/model/kinds";
import type { FoundComponent, ResolveOptions } from "../component.ts";
import type { CacheContext } from "../context.ts";
import type { Fetcher } from "../fetcher.ts";
import { openRemote, type Remote } from "@steps/transfer";
import { CacheError, offlineError } from "../cache-error.ts";
import type { Sought } from "../open-indexed.ts";
import { openIndexed } from "../open-indexed.ts";
import type { Waiter } from "../single-flight.ts";
import { singleFlight } from "../single-flight.ts";
import type { IndexEntry } from "../store/index-entry.ts";
import { readIndexEntry, writeIndexEntry } from "../store/index-entry.ts";
import { storeLock, withLock } from "../store/lock.ts";
import type { NativeTree } from "../store/tree-store.ts";
import { publishTree, withStaging } from "../store/tree-store.ts";
import { withTimeout } from "../timeout.ts";
import type { CommitProof } from "../store/commit-proof.ts";
import { algorithmOf, followProof } from "./commit-proof.ts";
import type { GitBackend, Obtained, TransferOptions } from "./git-backend.ts";
import type { ExtractedCommit } from "./git-objects.ts";
import { extractCommit, isFullId } from "./git-objects.ts";

interface Fetched {
  readonly entry: IndexEntry;
  readonly bytes: number;
  readonly note: string | undefined;
}

export const gitFetcher: Fetcher<RequestOf<"git">> = {
  resolve: resolveGit,
  prove: (_context, entry) => (isFullId(entry.version) ? proveCommit(entry.version, entry) : "unknown"),
  isResolved: isFullId,
};

/** Resolves a component of a git repository: name to commit, commit to tree. */
async function resolveGit(
  context: CacheContext,
  request: RequestOf<"git">,
  options: ResolveOptions,
): Promise<FoundComponent> {
  const startedAt = performance.now();
  const remote = openRemote(request.url, context.mirrors);
  const commit =
    pinnedCommit(options.pin) ?? (await findCommit(context, remote, { version: request.version, options }));
  const sought = soughtCommit(remote, commit, options.signal);
  const opened = await openIndexed(context, sought);
  if ("dir" in opened) {
    const fetch = { isHit: true, bytes: 0, durationMs: performance.now() - startedAt };
    return { resource: toResource(remote, request, opened), dir: opened.dir, fetch };
  }
  const { value, isFirst } = await fetchOnce(context, remote, { commit, note: opened.note, waiter: options });
  const again = await openIndexed(context, { ...sought, entry: value.entry });
  if (!("dir" in again)) {
    throw new CacheError(
      "DIGEST_MISMATCH",
      `Cannot use component "${remote.location}": its files changed again at once`,
    );
  }
  const bytes = isFirst ? value.bytes : 0;
  return {
    resource: toResource(remote, request, again),
    dir: again.dir,
    fetch: { isHit: !isFirst, bytes, durationMs: performance.now() - startedAt },
    note: value.note,
  };
}

function pinnedCommit(pin: Resource | undefined): string | undefined {
  if (pin === undefined) return undefined;
  const commit = pin.digest["gitCommit"];
  if (pin.kind === "git" && commit !== undefined && isFullId(commit)) return commit;
  throw new CacheError("PIN_MISMATCH", `Cannot pin component to "${pin.uri}": the trace names no git commit`);
}

/** Returns the commit that a version means to this cache object: looked up once, and the same ever after. */
async function findCommit(
  context: CacheContext,
  remote: Remote,
  { version, options }: { version: string; options: ResolveOptions },
): Promise<string> {
  const folded = version.toLowerCase();
  if (isFullId(folded)) return folded;
  const problem = versionProblem(version);
  if (problem !== undefined) throw new CacheError("REFERENCE_INVALID", `Cannot use version: ${problem.message}`);
  const key = `git\0${remote.location}\0${version}`;
  const known = context.frozen.get(key);
  if (known !== undefined) return known;
  const { value } = await singleFlight(context.ownFlights, key, {
    waiter: options,
    run: (shared) => withTimeout(context.limits, shared, (waiter) => lookUp(context, remote, { version, waiter })),
  });
  // Two that asked at once and saw different answers: the first one counts for both.
  const first = context.frozen.get(key) ?? value;
  context.frozen.set(key, first);
  return first;
}

async function lookUp(
  context: CacheContext,
  remote: Remote,
  { version, waiter }: { version: string; waiter: TransferOptions },
): Promise<string> {
  const indexed = readIndexEntry(context.layout, { kind: "git", location: remote.location, version });
  if (isUnreachable(context, remote)) {
    if (indexed !== undefined) return indexed.resolved;
    throw offline(remote, version);
  }
  const names = [`refs/tags/${version}^{}`, `refs/tags/${version}`, `refs/heads/${version}`];
  if (version.startsWith("refs/")) names.push(`${version}^{}`, version);
  if (version === "HEAD") names.push(version);
  const backend = await backendOf(context);
  const refs = await backend.listRefs(remote, names, waiter);
  const named = names.map((name) => refs.get(name)).find((id) => id !== undefined);
  if (named !== undefined) return await recordVersion(context, { remote, version, commit: named });
  const digits = version.toLowerCase();
  if (!/^[0-9a-f]{7,63}$/.test(digits)) throw unknownVersion(remote, version);
  // No tag and no branch took the name since: the commit is still what it was.
  if (indexed?.resolved.startsWith(digits) === true) return indexed.resolved;
  const commits = await withLock(context.layout, storeLock(remote.location), {
    signal: waiter.signal,
    run: () => backend.findCommits(remote, digits, waiter),
  });
  if (commits.length > 1) {
    throw new CacheError(
      "REFERENCE_AMBIGUOUS",
      `Cannot use commit "${version}": ${commits.length} commits start with it`,
      {
        hint: `Write more digits: ${commits.slice(0, 5).join(", ")}.`,
      },
    );
  }
  const found = commits[0];
  if (found === undefined) throw unknownVersion(remote, version);
  return await recordVersion(context, { remote, version, commit: found });
}

/** Brings a commit's tree into the cache, once for all who ask, in this process and others. */
async function fetchOnce(
  context: CacheContext,
  remote: Remote,
  { commit, note, waiter }: { commit: string; note: string | undefined; waiter: Waiter },
): Promise<{ value: Fetched; isFirst: boolean }> {
  const key = `${context.layout.root}\0git\0${remote.location}\0${commit}`;
  return await singleFlight(context.sharedFlights, key, {
    waiter,
    run: (shared) =>
      withTimeout(context.limits, shared, ({ signal, onProgress }) =>
        withLock(context.layout, storeLock(remote.location), {
          signal,
          run: async () => {
            // Another process may have brought it while we waited for the lock.
            const opened = await openIndexed(context, soughtCommit(remote, commit, signal));
            if ("dir" in opened) return { entry: opened.entry, bytes: 0, note };
            return { ...(await fetchTree(context, remote, { commit, signal, onProgress })), note: note ?? opened.note };
          },
        }),
      ),
  });
}

async function fetchTree(
  context: CacheContext,
  remote: Remote,
  options: TransferOptions & { readonly commit: string },
): Promise<{ entry: IndexEntry; bytes: number }> {
  const backend = await backendOf(context);
  const isOffline = isUnreachable(context, remote);
  if (isOffline && backend.obtainStored === undefined) throw offline(remote, options.commit);
  const obtain = (isFresh: boolean): Promise<Obtained> =>
    backend.obtain(remote, options.commit, { ...options, isFresh });
  const stored = isOffline ? await backend.obtainStored?.(remote, options.commit, options) : await obtain(false);
  if (stored === undefined) throw offline(remote, options.commit);
  try {
    return await unpack(context, remote, { ...options, obtained: stored });
  } catch (error) {
    const isStoreDamaged = error instanceof CacheError && error.code === "DIGEST_MISMATCH" && stored.isReused;
    if (!isStoreDamaged || isOffline) throw error;
    return await unpack(context, remote, { ...options, obtained: await obtain(true) });
  }
}

async function unpack(
  context: CacheContext,
  remote: Remote,
  options: TransferOptions & { readonly commit: string; readonly obtained: Obtained },
): Promise<{ entry: IndexEntry; bytes: number }> {
  const { commit, obtained, signal, onProgress } = options;
  await using source = obtained.source;
  onProgress?.({ phase: "unpack", bytes: obtained.bytes });
  const tree = await withStaging(context.layout, async (staging) => {
    const extracted = await extractCommit(source, staging, { commit, limits: context.limits, signal });
    await publishTree(context.layout, staging, {
      limits: context.limits,
      signal,
      gitTree: extracted.gitTree,
      native: nativeOf(extracted.nativeTree, extracted.proof),
    });
    return extracted;
  });
  const entry = toEntry(remote, { version: commit, tree });
  await writeIndexEntry(context.layout, entry);
  return { entry, bytes: obtained.bytes };
}

function toEntry(remote: Remote, { version, tree }: { version: string; tree: ExtractedCommit }): IndexEntry {
  return {
    format: 2,
    kind: "git",
    location: remote.location,
    version,
    resolved: tree.commit,
    gitTree: tree.gitTree,
    proof: tree.proof,
    bytes: tree.bytes,
    fetchedAt: Date.now(),
  };
}

/** Remembers what a name meant, for when there is no network. The tree is found through the commit. */
async function recordVersion(
  context: CacheContext,
  { remote, version, commit }: { remote: Remote; version: string; commit: string },
): Promise<string> {
  const key = { kind: "git", location: remote.location, version } as const;
  if (readIndexEntry(context.layout, key)?.resolved === commit) return commit;
  const unknown = { gitTree: "0".repeat(64), bytes: 0, fetchedAt: Date.now() };
  await writeIndexEntry(context.layout, { format: 2, ...key, resolved: commit, ...unknown });
  return commit;
}

function soughtCommit(remote: Remote, commit: string, signal: AbortSignal | undefined): Sought {
  return {
    key: { kind: "git", location: remote.location, version: commit },
    signal,
    prove: (entry) => proveCommit(commit, entry),
  };
}

/** Returns the tree that a full id leads to. Every object from the id to the commit and to its tree is hashed. */
function proveCommit(id: string, { proof, resolved }: IndexEntry): NativeTree | "wrong" {
  const found = proof && followProof(id, proof);
  return found === undefined || found.commit !== resolved ? "wrong" : nativeOf(found.tree, proof);
}

function nativeOf(id: string, proof: CommitProof | undefined): NativeTree {
  return { id, algorithm: algorithmOf(id), unusual: new Map(proof?.unusual) };
}

function toResource(
  remote: Remote,
  request: RequestOf<"git">,
  { entry, native }: { readonly entry: IndexEntry; readonly native: NativeTree | undefined },
): Resource {
  return {
    kind: "git",
    uri: remote.location,
    requestedVersion: request.version,
    resolvedVersion: entry.resolved,
    digest: { gitCommit: entry.resolved, gitTree: entry.gitTree },
    nativeTreeId: native === undefined ? undefined : native.id,
    isMutable: !isFullId(request.version.toLowerCase()),
    ...(remote.isMirror ? { downloadLocation: remote.url } : {}),
  };
}

/** The way to talk to repositories here. @throws {CacheError} GIT_MISSING */
export async function backendOf(context: CacheContext): Promise<GitBackend> {
  const { findGit } = await import("./git-process.ts");
  const program = context.git === "isomorphic" ? undefined : findGit(context.env);
  if (program !== undefined) return (await import("./system-git.ts")).createSystemGit(context, program);
  if (context.git !== "system") return (await import("./isomorphic-git.ts")).createIsomorphicGit(context);
  throw new CacheError("GIT_MISSING", "Cannot fetch component: there is no git program on the PATH", {
    hint: 'Install git, or let the cache use its own client with git: "auto".',
  });
}

/** Whether a repository cannot be asked because the cache is offline. */
export function isUnreachable(context: CacheContext, remote: Remote): boolean {
  return context.isOffline && remote.scheme !== "file";
}

function offline(remote: Remote, version: string): CacheError {
  return offlineError(`"${remote.location}" at "${version}"`);
}

function unknownVersion(remote: Remote, version: string): CacheError {
  return new CacheError(
    "REFERENCE_NOT_FOUND",
    `Cannot find version "${version}" in "${remote.location}": there is no such tag, branch or commit`,
  );
}
