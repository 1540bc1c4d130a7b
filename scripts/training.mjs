// The jobs that a command is run on when it is built, so that what most jobs need of it can be put where it is found fast:
// scripts/code-cache.mjs and scripts/pack.mjs.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const STEPS = '[{name: a, script: "echo ${{ vars.CI_X }}"}, {name: b, script: "true"}]';
const ACTIONS = "[{name: a, action: ./composite, inputs: {who: world}}]";
const PROJECT = {
  ".gitlab-ci.yml": `
include: /part.yml
variables: {LEVEL: debug}
test:
  extends: .base
  script: [echo "$LEVEL", !reference [.more, script]]
  rules: [{if: $CI_COMMIT_BRANCH == "main" && $LEVEL =~ /^de/}, {if: $NONE, when: never}, {when: always}]
`,
  "part.yml": `
.base: {before_script: ["true"], variables: {PLACE: $CI_PROJECT_NAME}}
.more: {script: ["true"]}
other: {stage: test, script: ["true"], parallel: {matrix: [{A: [x, y]}]}}
deploy: {stage: deploy, script: ["true"], needs: [test]}
`,
  "composite/action.yml": `
inputs: {who: {default: world}}
runs:
  using: composite
  steps:
    - {shell: bash, run: 'echo "\${{ inputs.who }}"'}
    - {shell: "bash -e {0}", run: "true", if: success()}
`,
  ".github/workflows/ci.yml": `
on: push
jobs:
  a: {runs-on: ubuntu-latest, strategy: {matrix: {x: [1, 2]}}, steps: [{run: "echo \${{ matrix.x }}"}]}
  b: {runs-on: ubuntu-latest, needs: a, if: success(), steps: [{run: "true"}]}
`,
};

/** The calls of each app, with the variables that they need beside PATH and HOME. The first is what starts most often. */
export const TRAINING = {
  "step-runner": [
    { args: ["ci"], env: { STEPS, CI_X: "x" } },
    { args: ["ci"], env: { STEPS: ACTIONS } },
    { args: ["local", "--job-name", "test"] },
    { args: ["pipeline", ".github/workflows/ci.yml"] },
    { args: ["pipeline", "--list"] },
    { args: ["pipeline"] },
  ],
  "runner-bridge": [{ args: ["list", "--socket", "/nowhere"] }],
  pod: [{ args: ["jobs"] }],
};

/** Makes the project that the calls are made in, below an empty folder, and gives its path. */
export function makeProject(scratch) {
  const dir = join(scratch, "project");
  for (const [path, text] of Object.entries(PROJECT)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  for (const args of [
    ["init", "-b", "main"],
    ["add", "."],
    [...who, "commit", "-m", "one"],
  ])
    spawnSync("git", args, { cwd: dir, env: { PATH: process.env["PATH"], HOME: scratch } });
  return dir;
}
