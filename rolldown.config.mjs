import { defineConfig } from "rolldown";

// Only the command is bundled: one file a command group, so that `--version` reads almost nothing.
export default defineConfig({
  input: "apps/step-runner/src/main.ts",
  platform: "node",
  resolve: { conditionNames: ["@steps/source", "import", "node", "default"] },
  logLevel: "warn",
  output: {
    dir: "apps/step-runner/dist",
    format: "esm",
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  },
});
