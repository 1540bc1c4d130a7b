import { compileAction, compileWorkflowJob } from "@steps/github-compiler";
import { githubContexts, githubEnvironment } from "@steps/github-compiler/contexts";
import { formatDiagnostic } from "@steps/model/diagnostic";

const action = compileAction({
  name: "action.yml",
  text: `
inputs:
  who: { default: "\${{ github.actor }}" }
runs:
  using: composite
  steps:
    - run: echo "hello \${{ inputs.who }}"
      shel: bash
`,
});
export const mistakes: string[] = action.diagnostics.map(formatDiagnostic);

const workflow = compileWorkflowJob(
  {
    name: "ci.yml",
    text: `
on: push
jobs:
  test:
    strategy:
      matrix: { os: [ubuntu-latest], node: [22, 24] }
    runs-on: \${{ matrix.os }}
    steps:
      - uses: actions/checkout@v4
      - run: npm test
`,
  },
  { jobName: "test (ubuntu-latest, 24)" },
);
export const { job, specDefinition } = workflow;

const variables: Record<string, string> = { CI_COMMIT_TAG: "v1.0", CI_PROJECT_PATH: "group/project" };
const { github, runner } = githubContexts((name) => variables[name], {
  workspace: "/builds/group/project",
  runnerTemp: "/tmp/runner",
  toolCache: "/opt/tools",
  runnerName: "mine",
  os: "linux",
  arch: "x64",
});
export const environment: Record<string, string> = githubEnvironment(github, runner);
