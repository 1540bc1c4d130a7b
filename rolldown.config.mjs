import { defineConfig } from "rolldown";

// Only the command is bundled, as CommonJS, which Node starts faster than modules; what a job of scripts needs is one
// chunk, and what is needed less often is loaded when it is.
export default defineConfig({
  input: "apps/step-runner/src/main.ts",
  platform: "node",
  resolve: { conditionNames: ["@steps/source", "import", "node", "default"] },
  logLevel: "warn",
  output: {
    dir: "apps/step-runner/dist",
    format: "cjs",
    cleanDir: true,
    // Names stay, for traces of calls; the text of comments and white space only takes time to read.
    minify: { compress: true, mangle: false, codegen: true },
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
  },
});
