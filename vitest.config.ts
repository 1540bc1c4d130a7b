import { defineConfig } from "vitest/config";

// Tests read the neighbours' sources, so that no build stands between an edit and its test.
// The bundler and Node add "import" or "require" themselves, as each module is named.
const conditions = ["steps-source", "node"];

/** Packages whose tests change nothing of the process that they run in: their files share workers, and the modules in them. */
const shared = [
  "packages/{compiler,conformance,expression,github-compiler,github-language,gitlab-ci,model,pipeline,proto,source,trace}/{src,test}",
  "packages/workspace/test",
  "apps/step-runner/test",
].map((folder) => `${folder}/**/*.test.ts`);

const all = ["packages/*/{src,test}/**/*.test.ts", "apps/*/{src,test}/**/*.test.ts"];

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    setupFiles: ["scripts/vitest-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many tests wait for processes and servers more than they work.
    maxWorkers: 3,
    // A worker of its own costs a file half a second of processor time.
    projects: [
      { extends: true, test: { name: "shared", isolate: false, include: shared } },
      { extends: true, test: { name: "alone", include: all, exclude: shared } },
    ],
  },
});
