import { cpSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, type GitRepository, tempDir } from "@steps/testkit";
import { runCheckout } from "../src/checkout/checkout.ts";

/** The messages and the outputs of a checkout. */
interface Checked {
  readonly outputs: Record<string, string>;
  readonly state: Record<string, string>;
  readonly log: string[];
  readonly warnings: string[];
}

/** The state that all tests of a file start from. */
export interface Template {
  readonly dir: string;
  /** A repository to run git in that is always there. */
  readonly driver: GitRepository;
  /** Commits of `main`, and that of `dev`. The first is tagged `v1`, the second `v2`. */
  readonly first: string;
  readonly second: string;
  readonly dev: string;
}

/** A project on its server, and a workspace of it. */
export interface World extends Template {
  /** The folder of all files here; the repositories of the server are in its folder `served`. */
  readonly root: string;
  readonly project: GitRepository;
  readonly workspace: string;
  readonly env: Record<string, string | undefined>;
  /** Makes the workspace as GitLab's runner leaves it: a detached HEAD. */
  readonly fetched: (options?: { depth?: number; commit?: string }) => Promise<void>;
  readonly git: (dir: string, ...args: string[]) => Promise<string>;
  readonly checkout: (inputs: Record<string, string>, over?: Record<string, string | undefined>) => Promise<Checked>;
  /** The content of a file in the workspace. */
  readonly read: (path: string) => string;
  /** From now on no server can be asked. */
  readonly goOffline: () => void;
}

export async function makeTemplate(): Promise<Template> {
  const dir = tempDir();
  const driver = await createGitRepository(join(dir, "driver"));
  const project = await createGitRepository(join(dir, "project"), { "a.txt": "one", "src/x": "x", "docs/y": "y" });
  const first = await project.revision();
  await project.tag("v1");
  const second = await project.commit({ "a.txt": "two" });
  await project.tag("v2", { isAnnotated: true });
  await project.git(["checkout", "-q", "-b", "dev", first]);
  const dev = await project.commit({ "a.txt": "dev" });
  await project.checkout("main");
  return { dir, driver, first, second, dev };
}

export async function makeWorld(template: Template): Promise<World> {
  const root = tempDir();
  const served = join(root, "served/group/project");
  cpSync(join(template.dir, "project"), served, { recursive: true });
  const project = await createGitRepository(served);
  const workspace = join(root, "builds/group/project");
  mkdirSync(join(root, "home"));
  const env: World["env"] = {
    PATH: process.env["PATH"],
    HOME: join(root, "home"),
    GITHUB_WORKSPACE: workspace,
    GITHUB_REF: "refs/heads/main",
    GITHUB_SHA: template.second,
    CI_REPOSITORY_URL: project.url,
    RUNNER_TEMP: tempDir(),
  };
  const git: World["git"] = (dir, ...args) => template.driver.git(["-C", dir, ...args]);
  return {
    ...template,
    root,
    project,
    workspace,
    env,
    git,
    async fetched({ depth, commit = template.second } = {}) {
      mkdirSync(workspace, { recursive: true });
      await git(workspace, "init", "-q");
      const limit = depth === undefined ? [] : [`--depth=${depth}`];
      await git(workspace, "fetch", "-q", ...limit, project.url, commit);
      await git(workspace, "checkout", "-q", "--detach", commit);
    },
    checkout: (inputs, over = {}) => runIn(inputs, { env: { ...env, ...over }, workDir: workspace }),
    read: (path) => readFileSync(join(workspace, path), "utf8"),
    goOffline: () => renameSync(join(root, "served"), join(root, "gone")),
  };
}

async function runIn(
  inputs: Record<string, string>,
  where: { env: Record<string, string | undefined>; workDir: string },
): Promise<Checked> {
  const checked: Checked = { outputs: {}, state: {}, log: [], warnings: [] };
  await runCheckout(inputs, {
    ...where,
    log: (line) => checked.log.push(line),
    warn: (line) => checked.warnings.push(line),
    setOutput: (name, value) => (checked.outputs[name] = value),
    saveState: (name, value) => (checked.state[name] = value),
  });
  return checked;
}
