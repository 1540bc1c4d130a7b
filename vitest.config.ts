import { defineConfig } from "vitest/config";

// Tests read the neighbours' sources, so that no build stands between an edit and its test.
const conditions = ["steps-source", "node", "import", "default"];

export default defineConfig({
  ssr: { resolve: { conditions, externalConditions: conditions } },
  resolve: { conditions },
  test: {
    include: ["packages/*/{src,test}/**/*.test.ts", "apps/*/{src,test}/**/*.test.ts"],
    setupFiles: ["scripts/vitest-setup.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many tests wait for processes and servers more than they work.
    maxWorkers: 3,
  },
});
