import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Tests read the neighbours' sources, so that no build stands between an edit and its test.
// The bundler and Node add "import" or "require" themselves, as each module is named.
const conditions = ["steps-source", "node"];

/** Packages whose tests change nothing of the process that they run in: their files share workers, and the modules in them. */
const shared = [
  ...[
    "packages/{compiler,expression,github-compiler,github-language,gitlab-ci,model,pipeline,proto,source,trace}/{src,test}",
    "packages/workspace/test",
    "apps/step-runner/test",
  ].map((folder) => `${folder}/**/*.test.ts`),
  "packages/conformance/{src,test}/**/!(job|run).test.ts",
];

/** Files that take minutes. They begin first: with one of them left at the end, a single worker would work. */
const slow = ["packages/conformance/test/run.test.ts", "packages/conformance/test/job.test.ts"];

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- This is the sequencer's own method.
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => slow.some((file) => moduleId.endsWith(`/${file}`));
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

const all = ["packages/*/{src,test}/**/*.test.ts", "apps/*/{src,test}/**/*.test.ts"];

/** Files that need many processes, containers or kills: they run in `.ci/run`, and where somebody names them. */
const long = "**/*.long.test.ts";
const runsLong = process.env["STEPS_LONG"] === "1" || process.argv.some((argument) => argument.includes(".long."));
const withoutLong = runsLong ? [] : [long];

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    setupFiles: ["scripts/vitest-setup.ts"],
    // Nothing hangs for long, and a machine under load is given its time: what is waited for has one second by default.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    // Many tests wait for processes and servers more than they work.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
    // A worker of its own costs a file half a second of processor time.
    projects: [
      { extends: true, test: { name: "shared", isolate: false, include: shared, exclude: withoutLong } },
      { extends: true, test: { name: "alone", include: all, exclude: [...shared, ...withoutLong] } },
    ],
  },
});
