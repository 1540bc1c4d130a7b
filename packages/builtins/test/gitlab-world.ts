import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tempDir } from "@steps/testkit";
import type { Value } from "@steps/model";
import type { GitlabProgram, GitlabResult } from "../src/gitlab/gitlab-step.ts";
import { builtinStep } from "../src/specs/builtin-specs.ts";

/** A project with a store beside it, in which programs of the library run. */
export interface GitlabWorld {
  readonly project: string;
  readonly store: string;
  /** Gives the words of the programs so far, and forgets them. */
  readonly said: () => string;
  /** Runs a program with the defaults of its inputs. */
  readonly run: (
    name: string,
    program: GitlabProgram,
    inputs: Readonly<Record<string, Value>>,
  ) => Promise<GitlabResult>;
}

/** Makes a world whose project has files: content by path, `-> target` for links. */
export function gitlabWorld(
  files: Readonly<Record<string, string>> = {},
  store = join(tempDir(), "store"),
): GitlabWorld {
  const project = tempDir();
  writeFiles(project, files);
  const lines: string[] = [];
  return {
    project,
    store,
    said: () => lines.splice(0).join("\n"),
    run: async (name, program, inputs) => {
      const specs = Object.entries(builtinStep(`gitlab/${name}`)?.spec.inputs ?? {});
      const defaults = specs.flatMap(([input, spec]) => (spec.default === undefined ? [] : [[input, spec.default]]));
      const log = (line: string): void => void lines.push(line);
      return await program(
        { ...(Object.fromEntries(defaults) as Record<string, Value>), ...inputs },
        { env: process.env, workDir: project, log },
      );
    },
  };
}

/** Writes files below a folder: content by path, `-> target` for links. */
export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(dirname(path), { recursive: true });
    if (content.startsWith("-> ")) symlinkSync(content.slice(3), path);
    else writeFileSync(path, content);
  }
}
