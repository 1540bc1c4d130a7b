import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CacheError, findGit, gitFailure, runGit } from "@steps/cache";
import { openRemote, type Remote } from "@steps/transfer";
import { BuiltinError } from "../builtin-error.ts";
import type { CheckoutPlace } from "./checkout-place.ts";

type Ran = Awaited<ReturnType<typeof runGit>>;

/** A repository with a work tree. */
export interface Repository {
  /** The root of the work tree. */
  readonly tree: string;
  readonly isShallow: boolean;
  /** The commit that is checked out, if there is one. */
  readonly head: string | undefined;
}

/**
 * The git of one checkout: with nothing of the user's configuration, no hooks, no protocols but those that a call names, and
 * credentials in the environment of single calls only.
 */
export class CheckoutGit {
  readonly #program: string;
  readonly #place: CheckoutPlace;
  readonly #home: string;

  private constructor(program: string, place: CheckoutPlace, home: string) {
    this.#program = program;
    this.#place = place;
    this.#home = home;
  }

  /** Hands a git to a function and leaves nothing behind. @throws {CacheError} GIT_MISSING */
  static async with<T>(
    place: CheckoutPlace,
    trees: readonly string[],
    run: (git: CheckoutGit) => Promise<T>,
  ): Promise<T> {
    const program = findGit(place.env);
    if (program === undefined) {
      throw new CacheError("GIT_MISSING", "Cannot check out: there is no git on the PATH", {
        hint: "Use an image that has git, or leave out path, ref and the like: the tree is in place.",
      });
    }
    const home = await mkdtemp(join(await realpath(tmpdir()), "steps-checkout-"));
    try {
      await writeFile(join(home, ".gitconfig"), globalConfig(place, trees), { mode: 0o600 });
      return await run(new CheckoutGit(program, place, home));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  /** Runs git; a failure is a result. */
  async try(args: readonly string[], options: { remote?: Remote; input?: string } = {}): Promise<Ran> {
    const { env, signal } = this.#place;
    // The history of the user's own project is not ours to judge.
    const own = ["-c", "transfer.fsckObjects=false", ...args];
    const globalConfig = join(this.#home, ".gitconfig");
    return await runGit({ program: this.#program, args: own, cwd: this.#home, env, signal, globalConfig, ...options });
  }

  /** Runs git and gives what it wrote, without the last line end. @throws {BuiltinError} BUILTIN_FAILED */
  async run(args: readonly string[], options: { action: string; remote?: Remote; input?: string }): Promise<string> {
    const { action, ...rest } = options;
    const { code, stdout, stderr } = await this.try(args, rest);
    if (code === 0) return stdout.toString().replace(/\n$/, "");
    throw new BuiltinError("BUILTIN_FAILED", `Cannot ${action}: ${lastWords(stderr)}`);
  }

  /** Fetches into a repository. @throws {CacheError} of the transport */
  async fetch(dir: string, remote: Remote, args: readonly string[]): Promise<void> {
    const ran = await this.try(["-C", dir, "fetch", "--quiet", "--no-tags", "--force", ...args], { remote });
    if (ran.code !== 0) throw gitFailure(remote, ran.stderr);
  }

  /** The repository whose work tree a folder is in. */
  async open(folder: string): Promise<Repository | undefined> {
    // A name that stands for no commit, as in a repository without one, is left out, and is no failure.
    const asked = ["rev-parse", "--show-toplevel", "--is-shallow-repository", "--revs-only", "HEAD^{commit}"];
    const ran = await this.try(["-C", folder, ...asked]);
    if (ran.code !== 0) {
      // A repository that git does not want to open is not the same as none.
      if (existsSync(join(folder, ".git"))) await this.run(["-C", folder, ...asked], { action: `open "${folder}"` });
      return undefined;
    }
    const lines = ran.stdout.toString().replace(/\n$/, "").split("\n");
    // From behind, as a path may itself have several lines.
    const head = /^[0-9a-f]+$/.test(lines.at(-1) ?? "") ? lines.pop() : undefined;
    const isShallow = lines.pop();
    return { tree: lines.join("\n"), isShallow: isShallow === "true", head };
  }

  /** The full id of the commit that a name stands for, if it is there. */
  async commitOf(dir: string, name: string): Promise<string | undefined> {
    const ran = await this.try(["-C", dir, "rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
    return ran.code === 0 ? ran.stdout.toString().trim() : undefined;
  }

  /** The first of these names that the other side has, with its commit. @throws {CacheError} of the transport */
  async lookUp(remote: Remote, names: readonly string[]): Promise<{ name: string; commit: string } | undefined> {
    const ran = await this.try(["ls-remote", "--", remote.url, ...names.flatMap((name) => [name, `${name}^{}`])], {
      remote,
    });
    if (ran.code !== 0) throw gitFailure(remote, ran.stderr);
    const refs = new Map(
      ran.stdout
        .toString()
        .split("\n")
        .map((line): [string, string] => [line.slice(line.indexOf("\t") + 1), line.slice(0, line.indexOf("\t"))]),
    );
    for (const name of names) {
      // A tag with a message is an object of its own.
      const commit = refs.get(`${name}^{}`) ?? refs.get(name);
      if (commit !== undefined) return { name, commit };
    }
    return undefined;
  }
}

/** A repository of this machine, to fetch from. */
export function localRemote(tree: string): Remote {
  return openRemote(pathToFileURL(tree).href, {});
}

function globalConfig({ env }: CheckoutPlace, trees: readonly string[]): string {
  // Trees of a job often belong to whoever fetched them, another user than the one who runs it.
  const lines = trees.map((tree) => `[safe]\n\tdirectory = ${quoted(tree)}\n`);
  const { CI_SERVER_TLS_CA_FILE: ca, CI_SERVER_URL: server } = env;
  if (ca !== undefined && existsSync(ca) && server !== undefined && URL.canParse(server)) {
    lines.push(`[http ${quoted(`${new URL(server).origin}/`)}]\n\tsslCAInfo = ${quoted(ca)}\n`);
  }
  return lines.join("");
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}

function lastWords(text: string): string {
  const lines = text.split("\n").map((line) => line.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ").trim());
  const telling = lines.find((line) => /^(?:fatal|error):/.test(line)) ?? lines.findLast((line) => line !== "");
  return (telling ?? "git failed").replace(/^(?:fatal|error): /, "").slice(0, 300);
}
