// The facts that all artifacts of a release share.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(fileURLToPath(import.meta.url), "../..");

/** The version of the command, the commit, and its time, which is that of all files: the same commit gives the same artifacts. */
export function factsOfRelease() {
  const { version } = JSON.parse(readFileSync(join(root, "apps/step-runner/package.json"), "utf8"));
  const [revision = "", seconds = "0"] = git(["log", "-1", "--format=%H %ct"]).split(" ");
  const created = new Date(Number(seconds) * 1000).toISOString().replace(/\.\d+Z$/, "Z");
  return { version, revision, created };
}

/** Gives the output of git, without white space at its ends. @throws {Error} if it fails */
export function git(args) {
  const { status, stdout, stderr, error } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${error?.message ?? stderr}`);
  return stdout.trim();
}
