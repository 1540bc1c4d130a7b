import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { chmod, opendir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "@steps/platform";

let count = 0;

/** A program beside us that takes work with folders off this process. It says whether it was done; `undefined`: it cannot be asked. */
export interface FolderHelper {
  removeTree(path: string): Promise<boolean> | undefined;
  copyTree(from: string, to: string): Promise<boolean> | undefined;
}

/** The folders of the jobs of this process below a state directory. They go when it ends, or when the next process finds it gone. */
export class Workspaces implements AsyncDisposable {
  readonly #root: string;
  readonly #made: string[] = [];

  /** @param stateDir an absolute path; the folder `workspaces` in it is made, private to the user */
  constructor(stateDir: string) {
    this.#root = join(stateDir, "workspaces");
    mkdirSync(this.#root, { recursive: true, mode: 0o700 });
  }

  /** A path for a new workspace, in a folder that is there. */
  next(): string {
    const path = join(this.#root, `${formatIdentity(processIdentity())}.${count++}`);
    mkdirSync(path, { mode: 0o700 });
    this.#made.push(path);
    return join(path, "project");
  }

  /** The folder with all that belongs to the workspace which a path lies in: absolute. `undefined` for a path in none of them. */
  rootOf(path: string): string | undefined {
    const [name = ""] = relative(this.#root, path).split("/");
    return name === "" || name === ".." ? undefined : join(this.#root, name);
  }

  /** Removes what killed processes left behind. */
  async sweep(): Promise<void> {
    for (const name of readdirSync(this.#root)) {
      const owner = parseIdentity(name);
      if (owner !== undefined && livenessOf(owner) === "gone") await removeAll(join(this.#root, name));
    }
  }

  /** Removes one workspace, also the folders in it that its job has closed to itself. @param helper is asked first */
  async remove(workspace: string, helper?: Pick<FolderHelper, "removeTree">): Promise<void> {
    const path = join(workspace, "..");
    if ((await helper?.removeTree(path)) !== true) await removeAll(path);
  }

  /** Removes what is in a workspace, which can be made anew then. */
  async empty(workspace: string): Promise<void> {
    await removeAll(workspace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of this.#made) if (existsSync(path)) await removeAll(path);
  }
}

async function removeAll(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openUp(dir: string): Promise<void> {
  await chmod(dir, 0o700);
  for await (const entry of await opendir(dir)) if (entry.isDirectory()) await openUp(join(dir, entry.name));
}
