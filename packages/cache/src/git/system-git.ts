import type { CacheContext } from "../context.ts";
import { cancelled, type Remote, request } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import { withoutCredentials } from "../credentials/credential.ts";
import type { CredentialSearch } from "../credentials/user-credentials.ts";
import { storePath } from "../store/layout.ts";
import { discard } from "../store/remove.ts";
import { openCatFile } from "./cat-file.ts";
import type { GitBackend, Obtained, TransferOptions } from "./git-backend.ts";
import { gitFailure, isRefusedCommit, refusingOrigin } from "./git-failure.ts";
import type { ObjectSource } from "./git-objects.ts";
import { algorithmOf } from "./commit-proof.ts";
import { runGit } from "./git-process.ts";
import { ensureStore, isUsableStore, packedBytes } from "./git-store.ts";
import { type Attempt, withUserCredentials } from "./with-user-credentials.ts";

type Context = Pick<CacheContext, "layout" | "limits" | "env" | "userCredentials">;
type Git = Context & { readonly program: string };
type Ran = Awaited<ReturnType<typeof runGit>>;
/** How a command that talks to a server ended, and what came of the search for credentials, if it failed. */
type Asked = Ran & { readonly search?: CredentialSearch | undefined };

const HISTORY = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
const WATCH_MS = 500;

/** Speaks to repositories through the `git` program. Objects stay in one bare store per URL. */
export function createSystemGit(context: Context, program: string): GitBackend {
  const git: Git = { ...context, program };
  return {
    async listRefs(remote, names, options) {
      const ran = await ask(git, remote, { ...options, args: ({ url }) => ["ls-remote", "--", url, ...names] });
      if (ran.code !== 0) throw gitFailure(remote, ran.stderr, ran);
      const refs = new Map<string, string>();
      for (const line of ran.stdout.toString().split("\n")) {
        const match = /^([0-9a-f]{40}|[0-9a-f]{64})\t(.+)$/.exec(line);
        // git's patterns also match the ends of longer names.
        if (match !== null && names.includes(match[2] as string)) refs.set(match[2] as string, match[1] as string);
      }
      return refs;
    },
    async listTags(remote, options) {
      const ran = await ask(git, remote, {
        ...options,
        args: ({ url }) => ["ls-remote", "--tags", "--refs", "--", url],
      });
      if (ran.code !== 0) throw gitFailure(remote, ran.stderr, ran);
      return [...ran.stdout.toString().matchAll(/^[0-9a-f]+\trefs\/tags\/(.+)$/gm)].map(([, name = ""]) => name);
    },
    obtain: (remote, commit, options) => obtain(git, remote, { ...options, commit }),
    obtainStored: (remote, commit, options) => openStored(git, remote, { ...options, commit }),
    async findCommits(remote, prefix, options) {
      const refs = await this.listRefs(remote, ["HEAD"], options);
      const store = storeOf(git, remote, { id: refs.get("HEAD") ?? "", isWhole: true });
      await fetchHistory(git, remote, { ...options, store });
      return await commitsIn(git, store, prefix, options.signal);
    },
  };
}

function storeOf(
  git: Git,
  remote: Remote,
  { id, isWhole }: { id: string; isWhole: boolean },
): { path: string; id: string } {
  const format = algorithmOf(id) === "sha256" ? ".sha256" : "";
  return { path: storePath(git.layout, remote.location, `${format}${isWhole ? ".whole" : ""}`), id };
}

async function obtain(
  git: Git,
  remote: Remote,
  options: TransferOptions & { readonly commit: string; readonly isFresh?: boolean },
): Promise<Obtained> {
  const { commit } = options;
  const { tip, whole } = storesOf(git, remote, commit);
  if (options.isFresh === true) await Promise.all([tip, whole].map(({ path }) => discard(git.layout, path)));
  const stored = await openStored(git, remote, options);
  if (stored !== undefined) return stored;
  const open = (store: string, bytes: number): Obtained => ({
    source: openSource(git, store, options),
    bytes,
    isReused: false,
  });
  const refspec = `+${commit}:refs/steps/${commit}`;
  const fetched = await fetchInto(git, remote, { ...options, store: tip, args: ["--depth=1"], refspecs: [refspec] });
  if (fetched.code === 0) return open(tip.path, fetched.bytes);
  if (!isRefusedCommit(fetched.stderr) && !/dumb http/.test(fetched.stderr))
    throw gitFailure(remote, fetched.stderr, fetched);
  // This server gives no single commits: everything that its branches and tags reach, then.
  const { bytes } = await fetchHistory(git, remote, { ...options, store: whole });
  if (await hasCommit(git, whole.path, options)) return open(whole.path, bytes);
  throw new CacheError("REFERENCE_NOT_FOUND", `Cannot find commit "${commit}" in "${remote.location}"`);
}

/** The two stores that may hold a commit: by itself, or with all history. */
function storesOf(git: Git, remote: Remote, id: string): Record<"tip" | "whole", { path: string; id: string }> {
  return { tip: storeOf(git, remote, { id, isWhole: false }), whole: storeOf(git, remote, { id, isWhole: true }) };
}

async function openStored(
  git: Git,
  remote: Remote,
  options: TransferOptions & { readonly commit: string },
): Promise<Obtained | undefined> {
  for (const { path } of Object.values(storesOf(git, remote, options.commit))) {
    if (await hasCommit(git, path, options)) {
      return { source: openSource(git, path, options), bytes: 0, isReused: true };
    }
  }
  return undefined;
}

function openSource(git: Git, store: string, { signal }: TransferOptions): ObjectSource {
  return openCatFile({ program: git.program, env: git.env, cwd: git.layout.tmp, signal }, store);
}

async function fetchHistory(
  git: Git,
  remote: Remote,
  options: TransferOptions & { readonly store: { path: string; id: string } },
): Promise<{ bytes: number }> {
  const fetched = await fetchInto(git, remote, { ...options, args: ["--prune"], refspecs: HISTORY });
  if (fetched.code !== 0) throw gitFailure(remote, fetched.stderr, fetched);
  return fetched;
}

/** Fetches; a store that an earlier, killed fetch left unusable is thrown away and made anew, once. */
async function fetchInto(
  git: Git,
  remote: Remote,
  options: TransferOptions & {
    readonly store: { path: string; id: string };
    readonly args: readonly string[];
    readonly refspecs: readonly string[];
  },
): Promise<Asked & { bytes: number }> {
  const { store, args, refspecs } = options;
  for (;;) {
    const wasThere = await ensureStore(git.layout, store.path, algorithmOf(store.id));
    const before = await packedBytes(store.path);
    const ran = await watched(git, store.path, { ...options, before }, (signal) =>
      ask(git, remote, {
        signal,
        args: ({ url }) => [
          `--git-dir=${store.path}`,
          "fetch",
          "--quiet",
          "--no-tags",
          ...args,
          "--",
          url,
          ...refspecs,
        ],
      }),
    );
    const isStoreBroken = /\.lock|corrupt|bad object|missing|unable to (?:create|read|write)|not a git repo/i.test(
      ran.stderr,
    );
    if (ran.code === 0 || !wasThere || !isStoreBroken || isRefusedCommit(ran.stderr)) {
      return { ...ran, bytes: Math.max(0, (await packedBytes(store.path)) - before) };
    }
    await discard(git.layout, store.path);
  }
}

/** Runs a fetch while watching the store grow: git itself has no limit. */
async function watched(
  git: Git,
  store: string,
  options: TransferOptions & { readonly before: number },
  run: (signal: AbortSignal) => Promise<Asked>,
): Promise<Asked> {
  const { before, signal, onProgress } = options;
  const { maxDownloadBytes } = git.limits;
  const overflow = new AbortController();
  const look = async (): Promise<void> => {
    const bytes = (await packedBytes(store)) - before;
    onProgress?.({ phase: "fetch", bytes: Math.max(0, bytes) });
    if (bytes <= maxDownloadBytes) return;
    overflow.abort(
      new CacheError("ARCHIVE_TOO_LARGE", `Cannot fetch component: git received more than ${maxDownloadBytes} bytes`),
    );
  };
  const timer = setInterval(() => void look().catch(() => undefined), WATCH_MS);
  try {
    const ran = await run(signal === undefined ? overflow.signal : AbortSignal.any([signal, overflow.signal]));
    await look();
    if (overflow.signal.aborted) throw cancelled(overflow.signal);
    return ran;
  } catch (error) {
    if (overflow.signal.aborted) await discard(git.layout, store);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

type Question = TransferOptions & { readonly args: (remote: Remote) => string[] };

/** Runs a command that talks to a server, with the user's credentials if it wants some. */
async function ask(git: Git, remote: Remote, options: Question): Promise<Asked> {
  const attempt = async (asked: Remote): Promise<Attempt<Ran>> => {
    const ran = await askOnce(git, asked, options);
    const value = { ...ran, stderr: withoutCredentials(ran.stderr, asked.authorization) };
    return { value, hasFailed: ran.code !== 0, refusedBy: refusingOrigin(ran.stderr) };
  };
  const { value, search } = await withUserCredentials(git, remote, { signal: options.signal, attempt });
  return { ...value, search };
}

/** A redirect that git must not follow with credentials is followed by us. */
async function askOnce(git: Git, remote: Remote, { signal, args }: Question): Promise<Ran> {
  const call = { program: git.program, env: git.env, cwd: git.layout.tmp, signal };
  const ran = await runGit({ ...call, args: args(remote), remote });
  if (ran.code === 0 || remote.authorization === undefined) return ran;
  if (!/returned error: 30[1278]/.test(ran.stderr)) return ran;
  const redirected = await findRedirect(remote, signal);
  return await runGit({ ...call, args: args(redirected), remote: redirected });
}

async function findRedirect(remote: Remote, signal: AbortSignal | undefined): Promise<Remote> {
  const question = "/info/refs?service=git-upload-pack";
  const answer = await request(remote, { url: `${remote.url}${question}`, signal });
  await answer.response.body?.cancel();
  if (!answer.url.endsWith(question)) throw gitFailure(remote, "fatal: the server redirects to something else");
  const url = answer.url.slice(0, -question.length);
  const { origin, protocol } = new URL(url);
  const isSameOrigin = origin === new URL(remote.url).origin;
  return {
    ...remote,
    url,
    scheme: protocol === "https:" ? "https" : "http",
    authorization: isSameOrigin ? remote.authorization : undefined,
  };
}

async function hasCommit(git: Git, store: string, options: { commit: string } & TransferOptions): Promise<boolean> {
  if (!(await isUsableStore(git.layout, store))) return false;
  const args = [`--git-dir=${store}`, "cat-file", "-e", `${options.commit}^{tree}`];
  const ran = await runGit({ program: git.program, env: git.env, cwd: git.layout.tmp, signal: options.signal, args });
  return ran.code === 0;
}

async function commitsIn(
  git: Git,
  store: { path: string },
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const call = { program: git.program, env: git.env, cwd: git.layout.tmp, signal };
  const named = await runGit({ ...call, args: [`--git-dir=${store.path}`, "rev-parse", `--disambiguate=${prefix}`] });
  const args = [`--git-dir=${store.path}`, "cat-file", "--batch-check"];
  const types = await runGit({ ...call, args, input: named.stdout.toString() });
  const lines = types.stdout.toString().split("\n");
  return lines.flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
}
