import { loadPipelineNow } from "@steps/gitlab-ci/load";
import { withTempDir } from "@steps/testkit";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectFiles } from "../src/project-files.ts";

function lay(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function load(project: string, include: string): { readonly jobs: string[]; readonly messages: string[] } {
  const source = { name: ".gitlab-ci.yml", text: `include: ${include}\nown: {script: s}\n` };
  const { pipeline, diagnostics } = loadPipelineNow(source, projectFiles(project, { DIR: "ci" }));
  return { jobs: [...(pipeline?.jobs.keys() ?? [])], messages: diagnostics.map(({ message }) => message) };
}

describe("projectFiles()", () => {
  test("reads files of the project, with variables and wildcards in their paths", () =>
    withTempDir(async (root) => {
      const project = join(root, "project");
      lay(project, { "ci/a.yml": "a: {script: s}", "ci/x/b.yml": "b: {script: s}", ".git/c.yml": "c: {script: s}" });
      expect(load(project, "$DIR/a.yml").jobs).toEqual(["a", "own"]);
      expect(load(project, "'**.yml'")).toEqual({ jobs: ["a", "b", "own"], messages: [] });
    }));

  test("follows links inside of the project only", () =>
    withTempDir(async (root) => {
      const project = join(root, "project");
      lay(root, { "outside/a.yml": "a: {script: s}", "project/ci/b.yml": "b: {script: s}", "project-2/c.yml": "" });
      symlinkSync("../outside/a.yml", join(project, "a.yml"));
      symlinkSync("../outside", join(project, "folder"));
      symlinkSync("../project-2/c.yml", join(project, "c.yml"));
      symlinkSync("ci/b.yml", join(project, "b.yml"));
      const refused = (path: string) => [`Cannot include "${path}": A link leads out of the project`];
      expect(load(project, "a.yml").messages).toEqual(refused("a.yml"));
      expect(load(project, "c.yml").messages).toEqual(refused("c.yml"));
      expect(load(project, "folder/a.yml").messages).toEqual(refused("folder/a.yml"));
      expect(load(project, "'folder/*.yml'").jobs).toEqual(["own"]);
      expect(load(project, "b.yml").jobs).toEqual(["b", "own"]);
    }));

  test("says what is not there, no file, or elsewhere", () =>
    withTempDir(async (root) => {
      lay(root, { "folder.yml/x": "" });
      expect(load(root, "no.yml").messages).toEqual([`Cannot include "no.yml": The file does not exist`]);
      expect(load(root, "folder.yml").messages).toEqual([`Cannot include "folder.yml": It is not a file`]);
      for (const include of [
        "{project: a/b, file: c.yml}",
        "https://example.com/a.yml",
        "{template: Auto-DevOps.gitlab-ci.yml}",
        "{component: example.com/a/b@1}",
      ]) {
        expect(load(root, include).messages[0]).toMatch(/not supported yet$/);
      }
    }));
});
