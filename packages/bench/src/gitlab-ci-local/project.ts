import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository } from "@steps/testkit";

/** A project, once for each side: the peer writes into it. */
export interface Sides {
  readonly ours: string;
  readonly peers: string;
}

/** Makes both sides of a project with these files, as a clone of a server leaves it. */
export async function makeSides(folder: string, files: Readonly<Record<string, string>>): Promise<Sides> {
  mkdirSync(folder, { recursive: true });
  const [ours, peers] = await Promise.all(["ours", "peers"].map((side) => makeProject(join(folder, side), files)));
  if (ours === undefined || peers === undefined) throw new Error("no project");
  return { ours, peers };
}

async function makeProject(dir: string, files: Readonly<Record<string, string>>): Promise<string> {
  const repository = await createGitRepository(dir, files);
  await repository.git(["config", "user.name", "A"]);
  await repository.git(["config", "user.email", "a@example.com"]);
  await repository.git(["remote", "add", "origin", "https://gitlab.com/group/project.git"]);
  await repository.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
  await repository.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
  return dir;
}

const FILES = 10;

/** A configuration of many jobs in ten included files, all of which extend two more. */
export function manyJobs(count: number): Record<string, string> {
  const names = Array.from({ length: FILES }, (_, i) => `ci/part-${i}.yml`);
  const parts = names.map((name, i) => [name, partOf(i, count / FILES)]);
  return {
    ".gitlab-ci.yml": `include:\n${names.map((name) => `  - /${name}\n`).join("")}stages: [build, test, deploy]\nvariables: {LEVEL: debug}\n.common: {before_script: [echo before], variables: {COMMON: "1"}}\n`,
    ...Object.fromEntries(parts),
  };
}

function partOf(part: number, count: number): string {
  const base = `.base-${part}:\n  extends: .common\n  stage: test\n  variables: {PART: "${part}"}\n  rules:\n    - if: $CI_COMMIT_BRANCH == "main"\n`;
  const jobs = Array.from(
    { length: count },
    (_, i) => `job-${part}-${i}:\n  extends: .base-${part}\n  variables: {INDEX: "${i}"}\n  script:\n    - echo ${i}\n`,
  );
  return base + jobs.join("");
}
