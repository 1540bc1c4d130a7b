// Keeps beside a built command the code that V8 made of it, for scripts/code-loader.cjs: node scripts/code-cache.mjs APP.
// The command is run once, on a job that does what most jobs do, so that the functions that a run needs are in it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const TRAINING = {
  "step-runner": {
    args: ["ci"],
    env: { STEPS: '[{name: a, script: "echo ${{ vars.CI_X }}"}, {name: b, script: "true"}]', CI_X: "x" },
  },
  "runner-bridge": { args: ["list", "--socket", "/nowhere"], env: {} },
};

/** Writes `code.bin` of an app. */
export function keepCode(app) {
  const scratch = mkdtempSync(join(tmpdir(), "steps-code-"));
  const { args, env } = TRAINING[app];
  const variables = { PATH: process.env["PATH"], HOME: scratch, STEPS_CODE_OF: app, ...env };
  try {
    const done = spawnSync(process.execPath, [self, ...args], { cwd: scratch, env: variables, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`Cannot keep the code of ${app}: ${done.stderr}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** In a process of its own: runs the command and keeps the code of each chunk that was loaded. */
function train(app) {
  const main = join(root, "apps", app, "dist", "main.cjs");
  const dir = dirname(main);
  const require = createRequire(main);
  const Module = require("node:module");
  const { Script, constants } = require("node:vm");
  const scripts = new Map();
  rmSync(join(dir, "code.bin"), { force: true });
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    if (dirname(filename) !== dir || filename === main) return compile.call(this, content, filename, ...rest);
    const script = new Script(Module.wrap(content), {
      filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    scripts.set(basename(filename), script);
    return script
      .runInThisContext()
      .call(this.exports, this.exports, Module.createRequire(filename), this, filename, dirname(filename));
  };
  process.on("exit", () => {
    const chunks = {};
    const parts = [];
    let at = 0;
    for (const [name, script] of [...scripts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      const code = script.createCachedData();
      chunks[name] = [at, code.length];
      at += code.length;
      parts.push(code);
    }
    const head = Buffer.from(JSON.stringify({ v8: process.versions.v8, chunks }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    writeFileSync(join(dir, "code.bin"), Buffer.concat([length, head, ...parts]), { mode: 0o644 });
    // The call of the bridge fails for want of a service; what counts is what it loaded.
    if (scripts.size > 0) process.exitCode = 0;
  });
  process.argv[1] = main;
  Module._load(main, null, true);
}

const { STEPS_CODE_OF: training } = process.env;
if (training !== undefined) train(training);
else for (const app of process.argv.slice(2)) keepCode(app);
