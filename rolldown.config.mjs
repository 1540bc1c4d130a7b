import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "rolldown";
import { noticesPlugin } from "./scripts/bundled-packages.mjs";
import { archivePlugin, pgliteModule } from "./scripts/database-archive.mjs";

// A test builds elsewhere, to compare.
const apps = process.env["STEPS_BUNDLE_DIR"] ?? "apps";

// See `scripts/pack.tsconfig.json`, which says the same of the executable.
const YAML = resolve("packages/source/node_modules/yaml/browser/index.js");

const CODE_LOADER = readFileSync("scripts/code-loader.cjs", "utf8");

// Only the commands are bundled, as CommonJS, which Node starts faster than modules; what a job of scripts needs is one
// chunk, and what is needed less often is loaded when it is.
/**
 * The check that each command makes before anything else: it says which Node it needs where that is older than the manifest's. It stands
 * before all imports, in words that a Node of ten years ago reads. Exit code: docs/reference/exit-codes.md.
 */
function checkNode(app) {
  const { engines } = JSON.parse(readFileSync(`apps/${app}/package.json`, "utf8"));
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node);
  return `(function (found) {
  if (found[0] > ${major} || (found[0] == ${major} && found[1] >= ${minor})) return;
  process.stderr.write("${app}: Node.js " + process.versions.node + " at " + process.execPath + " is too old\\n  hint: ${app} needs Node.js ${major}.${minor} or later: https://nodejs.org/\\n");
  process.exit(1);
})(process.versions.node.split("."));`;
}

export default defineConfig(
  ["step-runner", "runner-bridge", "pod"].map((app) => ({
    input: `apps/${app}/src/main.ts`,
    platform: "node",
    resolve: { conditionNames: ["steps-source", "node", "default"], alias: { yaml: YAML } },
    // The oldest Node of the manifests knows no `using`.
    transform: { target: "node22.18" },
    logLevel: "warn",
    plugins: app === "pod" ? [noticesPlugin([pgliteModule()]), archivePlugin()] : [noticesPlugin()],
    // PGlite reads its program and its files beside its own module, so it stays a package. Others: parts of ssh2, ws and pg that are compiled for the machine where there is a compiler; all run without.
    external: ["@electric-sql/pglite", "pg-native", "cpu-features", "bufferutil", "utf-8-validate", /sshcrypto\.node$/],
    output: {
      dir: `${apps}/${app}/dist`,
      format: "cjs",
      cleanDir: true,
      // Names stay, for traces of calls; the text of comments and white space only takes time to read.
      minify: { compress: true, mangle: false, codegen: true },
      postBanner: (chunk) => (chunk.isEntry ? `${checkNode(app)}\n${CODE_LOADER}` : ""),
      entryFileNames: "[name].cjs",
      chunkFileNames: "[name]-[hash].cjs",
    },
  })),
);
