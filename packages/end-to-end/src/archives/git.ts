import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { createGitRepository, type GitRepository } from "@steps/testkit";
import type { Entry } from "./contents.ts";
import { type Kind, type Making, STEP } from "./kind.ts";

interface Line {
  readonly mode: string;
  readonly name: string;
  readonly id: string;
}

const MODES = {
  file: "100644",
  symlink: "120000",
  hard: "100644",
  device: "20666",
  pipe: "10666",
  setuid: "104755",
} as const;

/** Stores an object exactly as given. A tree of 500 folders is 500 objects: a process of git for each would take minutes. */
function store({ dir }: GitRepository, type: "blob" | "tree", content: Uint8Array): string {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash("sha1").update(object).digest("hex");
  const folder = join(dir, ".git/objects", id.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, id.slice(2));
  if (!existsSync(path)) writeFileSync(path, deflateSync(object, { level: 1 }));
  return id;
}

const blobOf = (repository: GitRepository, text: string | Uint8Array): string =>
  store(repository, "blob", Buffer.from(text as string));

const treeOf = (repository: GitRepository, list: readonly Line[]): string =>
  store(
    repository,
    "tree",
    Buffer.concat(list.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")])),
  );

/** Trees of a repository: what stands before the last slash of a name is a tree of that name, whatever it is. */
function lineOf(repository: GitRepository, { name, type = "file", content = "", target }: Entry): Line {
  const text = typeof name === "string" ? name : name.toString("latin1");
  const parts = text.split("/");
  let line: Line = { mode: MODES[type], name: parts.pop() ?? "", id: blobOf(repository, target ?? content) };
  for (const folder of parts.toReversed()) line = { mode: "40000", name: folder, id: treeOf(repository, [line]) };
  return line;
}

async function publish(
  { user }: Making,
  make: (repository: GitRepository) => Promise<readonly Line[]>,
): Promise<string> {
  const repository = await createGitRepository(join(user.dir, "project.git"), { "step.yml": STEP });
  const lines = await make(repository);
  const step = blobOf(repository, STEP);
  const hasStep = lines.some(({ name }) => name === "step.yml");
  const tree = treeOf(repository, [...lines, ...(hasStep ? [] : [{ mode: "100644", name: "step.yml", id: step }])]);
  await repository.commitTree("evil", tree);
  return `git+${repository.url}@evil`;
}

const lines =
  (make: (repository: GitRepository, blob: string) => Promise<readonly Line[]> | readonly Line[]) =>
  (making: Making): Promise<string> =>
    publish(making, async (repository) => make(repository, blobOf(repository, "x")));

export const GIT: Kind = {
  name: "git",
  make: (list, making) =>
    publish(making, (repository) => Promise.resolve(list.map((entry) => lineOf(repository, entry)))),
  specials: {
    "a tree that unfolds without end": lines((repository, blob) => {
      let line: Line = { mode: "100644", name: "x", id: blob };
      for (let level = 0; level < 9; level++) {
        const all = Array.from({ length: 10 }, (_, n) => ({ ...line, name: `n${n}` }));
        line = { mode: "40000", name: "bomb", id: treeOf(repository, all) };
      }
      return [line];
    }),
    "an object that is not there": lines(() => [{ mode: "100644", name: "x", id: "1".repeat(40) }]),
    "a tree that is a file": lines((_repository, blob) => [{ mode: "40000", name: "x", id: blob }]),
    "entries out of order": lines((_repository, blob) => [
      { mode: "100644", name: "z", id: blob },
      { mode: "100644", name: "a", id: blob },
    ]),
    "a mode that is no number": lines((_repository, blob) => [{ mode: "999999", name: "x", id: blob }]),
    "a name with a slash": (making) =>
      lines((_repository, blob) => [{ mode: "100644", name: `../${making.places.mark}`, id: blob }])(making),
    "an absolute name": (making) =>
      lines((_repository, blob) => [{ mode: "100644", name: `${making.places.outside}/x`, id: blob }])(making),
    "modules that run a program": lines(async (repository) => [
      {
        mode: "100644",
        name: ".gitmodules",
        id: blobOf(repository, '[submodule "a"]\n\tpath = a\n\turl = ext::sh -c touch% evil\n\tupdate = !touch evil\n'),
      },
      { mode: "160000", name: "a", id: await repository.revision() },
    ]),
    "modules that are a link": lines((repository) => [
      { mode: "120000", name: ".gitmodules", id: blobOf(repository, "/etc/passwd") },
    ]),
    "a bomb in one file": lines(async (repository) => [
      { mode: "100644", name: "x", id: blobOf(repository, Buffer.alloc(300 * 1024 * 1024)) },
    ]),
  },
};
