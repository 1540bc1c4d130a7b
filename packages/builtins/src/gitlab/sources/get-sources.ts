import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { gitFailure } from "@steps/cache";
import { messageOf } from "@steps/model";
import type { Remote } from "@steps/transfer";
import { BuiltinError } from "../../builtin-error.ts";
import { settingsFor, updateLfs } from "../../checkout/checkout-extras.ts";
import { CheckoutGit } from "../../checkout/checkout-git.ts";
import { readCheckoutInputs } from "../../checkout/checkout-inputs.ts";
import { type BuiltinPlace, type Inputs, invalid } from "../../images/builtin-images.ts";
import { type GitlabResult, warn } from "../gitlab-step.ts";
import { assertNothingLost, emptyFolder, removeStaleLocks } from "./project-folder.ts";
import { readSourceInputs, type SourceInputs } from "./source-inputs.ts";

interface Sources {
  readonly git: CheckoutGit;
  readonly inputs: SourceInputs;
  readonly place: BuiltinPlace;
  readonly dir: string;
}

/** `gitlab/checkout`: brings the project's commit into the project's folder, as the `GIT_*` variables of GitLab say. */
export async function getSources(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const read = readSourceInputs(inputs, place);
  const dir = place.workDir;
  mkdirSync(dir, { recursive: true });
  return await CheckoutGit.with({ ...place, setOutput() {} }, [dir], async (git) => {
    const sources = { git, inputs: read, place, dir };
    if (read.strategy === "none") place.log("Skipping Git repository setup");
    else if (!read.isDisposable) await assertNothingLost(git, dir, read.strategy !== "fetch");
    if (read.strategy === "empty" || read.strategy === "clone") emptyFolder(dir);
    if (read.remote !== undefined) await attempt(sources, read.remote);
    const sha = (await git.commitOf(dir, "HEAD")) ?? "";
    return { outputs: { sha, ref: read.ref, dir } };
  });
}

async function attempt(sources: Sources, remote: Remote): Promise<void> {
  const { git, inputs, place, dir } = sources;
  for (let count = 1; ; count += 1) {
    try {
      return await bring(sources, remote);
    } catch (error) {
      if (count >= inputs.attempts) throw error;
      warn(place, `Attempt ${count} of ${inputs.attempts} has failed: ${messageOf(error)}`);
      if (!inputs.isDisposable) continue;
      await git.try(["-C", dir, "rm", "-rf", "--quiet", "."]);
      await git.try(["-C", dir, "clean", "-ffdxq"]);
    }
  }
}

async function bring(sources: Sources, remote: Remote): Promise<void> {
  const { git, inputs, place, dir } = sources;
  if (inputs.isDisposable) removeStaleLocks(join(dir, ".git"));
  const found = await commitOf(sources, remote);
  await prepareRepository(sources, remote, found.length === 64 ? "sha256" : "sha1");
  await fetchCommit(sources, remote, found);
  if (!inputs.isCheckedOut) return place.log("Skipping Git checkout");
  place.log(`Checking out ${found.slice(0, 8)} as detached HEAD (ref is ${inputs.ref || "not named"})...`);
  const action = `check out ${found}`;
  await git.run(["-C", dir, "checkout", "--quiet", "--force", "--detach", found, "--"], { action });
  if (inputs.cleanFlags.length > 0) {
    const cleaned = await git.run(["-C", dir, "clean", ...inputs.cleanFlags], { action: "clean the project" });
    if (cleaned !== "") place.log(cleaned);
  }
  await bringSubmodules(sources, remote);
  const extras = { tree: dir, source: { remote, isDeclared: true }, place: { ...place, setOutput() {} } };
  const lfs = { ...readCheckoutInputs({}, () => undefined), lfs: inputs.lfs && (await hasLfsFiles(sources)) };
  await updateLfs(git, { ...extras, inputs: lfs, warn: (line) => warn(place, line) });
}

// Without such files git-lfs need not be there.
async function hasLfsFiles({ git, dir }: Sources): Promise<boolean> {
  const named = await git.try([
    "-C",
    dir,
    "grep",
    "--quiet",
    "filter=lfs",
    "HEAD",
    "--",
    ".gitattributes",
    "*/.gitattributes",
  ]);
  return named.code === 0;
}

/** The commit that is wanted: the one that is named, else that of the ref on the server. */
async function commitOf({ git, inputs }: Sources, remote: Remote): Promise<string> {
  if (inputs.sha !== "") return inputs.sha;
  if (inputs.ref === "") throw invalid("there is neither a sha nor a ref");
  const names = [`refs/heads/${inputs.ref}`, `refs/tags/${inputs.ref}`, inputs.ref];
  const found = await git.lookUp(remote, names);
  if (found !== undefined) return found.commit;
  throw new BuiltinError("BUILTIN_FAILED", `Cannot check out "${inputs.ref}": "${remote.location}" has no such ref`);
}

async function prepareRepository({ git, place, dir }: Sources, remote: Remote, format: string): Promise<void> {
  if (!existsSync(join(dir, ".git"))) {
    const init = ["init", "--quiet", "--template=", `--object-format=${format}`, "--", dir];
    await git.run(init, { action: `make a repository in "${dir}"` });
    place.log("Created fresh repository.");
  }
  // Without credentials, which are in the requests of this step alone.
  const action = "write the configuration";
  await git.run(["-C", dir, "config", "remote.origin.url", remote.location], { action });
}

async function fetchCommit({ git, inputs, place, dir }: Sources, remote: Remote, commit: string): Promise<void> {
  const { depth, refspecs, fetchFlags } = inputs;
  const isShallow = (await git.open(dir))?.isShallow === true;
  const limit = depth > 0 ? [`--depth=${depth}`] : isShallow ? ["--unshallow"] : [];
  place.log(depth > 0 ? `Fetching changes with git depth set to ${depth}...` : "Fetching changes...");
  const fetch = async (what: readonly string[]): Promise<void> => {
    const ran = await git.try(["-C", dir, "fetch", ...limit, ...fetchFlags, "--", remote.url, ...what], { remote });
    if (ran.code !== 0) throw gitFailure(remote, ran.stderr);
  };
  await fetch(refspecs);
  if ((await git.commitOf(dir, commit)) !== undefined) return;
  // It is older than the depth, or on no branch.
  await fetch([commit]);
  if ((await git.commitOf(dir, commit)) !== undefined) return;
  throw new BuiltinError("BUILTIN_FAILED", `Cannot check out ${commit}: "${remote.location}" does not have it`);
}

async function bringSubmodules({ git, inputs, place, dir }: Sources, remote: Remote): Promise<void> {
  const { strategy, depth, paths, updateFlags } = inputs.submodules;
  if (strategy === "none") return place.log("Skipping Git submodules setup");
  const recursive = strategy === "recursive" ? ["--recursive"] : [];
  place.log(`Updating submodules${strategy === "recursive" ? " recursively" : ""}...`);
  const base = [...settingsFor(remote), "-C", dir, "submodule", "--quiet"];
  const options = { action: "bring the submodules", remote };
  await git.run([...base, "sync", ...recursive, "--", ...paths], options);
  const limit = depth > 0 ? [`--depth=${depth}`] : [];
  const update = ["update", "--init", "--checkout", "--force", ...limit, ...recursive, ...updateFlags, "--", ...paths];
  await git.run([...base, ...update], options);
  if (inputs.cleanFlags.length === 0) return;
  const clean = ["foreach", ...recursive, `git clean ${inputs.cleanFlags.map(quote).join(" ")}`];
  await git.run([...base, ...clean], { action: "clean the submodules" });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
