import { defineConfig } from "rolldown";

// A test builds elsewhere, to compare.
const apps = process.env["STEPS_BUNDLE_DIR"] ?? "apps";

// Only the commands are bundled, as CommonJS, which Node starts faster than modules; what a job of scripts needs is one
// chunk, and what is needed less often is loaded when it is.
export default defineConfig(
  ["step-runner", "runner-bridge"].map((app) => ({
    input: `apps/${app}/src/main.ts`,
    platform: "node",
    resolve: { conditionNames: ["@steps/source", "import", "node", "default"] },
    logLevel: "warn",
    // Parts of ssh2 and ws that are compiled for the machine where there is a compiler; both run without.
    external: ["cpu-features", "bufferutil", "utf-8-validate", /sshcrypto\.node$/],
    output: {
      dir: `${apps}/${app}/dist`,
      format: "cjs",
      cleanDir: true,
      // Names stay, for traces of calls; the text of comments and white space only takes time to read.
      minify: { compress: true, mangle: false, codegen: true },
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
    },
  })),
);
