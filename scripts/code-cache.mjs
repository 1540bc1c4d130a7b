// Keeps beside a built command the code that V8 made of it, for scripts/code-loader.cjs: node scripts/code-cache.mjs APP.
// The command is run on jobs that do what most jobs do, so that the functions that a run needs are in it. Each run starts from
// the code of those before and adds its own.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeProject, TRAINING } from "./training.mjs";

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));

/** Writes `code.bin` of an app. */
export function keepCode(app) {
  const scratch = mkdtempSync(join(tmpdir(), "steps-code-"));
  try {
    const kept = join(root, "apps", app, "dist", "code.bin");
    rmSync(kept, { force: true });
    const cwd = makeProject(scratch);
    for (const { args, env } of TRAINING[app]) {
      const own = { STEPS_CODE_OF: app, STEPS_CODE_FILE: join(scratch, "code.bin") };
      const variables = { PATH: process.env["PATH"], HOME: scratch, ...own, ...env };
      const options = { cwd, env: variables, encoding: "utf8" };
      const done = spawnSync(process.execPath, [self, ...args], options);
      if (done.status !== 0) throw new Error(`Cannot keep the code of ${app} ${args.join(" ")}: ${done.stderr}`);
    }
    copyFileSync(join(scratch, "code.bin"), kept);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** In a process of its own: runs the command and keeps the code of each chunk that was loaded. */
function train(app, file) {
  const main = join(root, "apps", app, "dist", "main.cjs");
  const dir = dirname(main);
  const require = createRequire(main);
  const Module = require("node:module");
  const { Script, constants } = require("node:vm");
  const scripts = new Map();
  const kept = readKept(file);
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    if (dirname(filename) !== dir || filename === main) return compile.call(this, content, filename, ...rest);
    const script = new Script(Module.wrap(content), {
      filename,
      cachedData: kept(basename(filename)),
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
    const names = new Set([...scripts.keys(), ...kept.names]);
    for (const name of [...names].toSorted((a, b) => (a < b ? -1 : 1))) {
      const code = scripts.get(name)?.createCachedData() ?? kept(name);
      chunks[name] = [at, code.length];
      at += code.length;
      parts.push(code);
    }
    const head = Buffer.from(JSON.stringify({ v8: process.versions.v8, chunks }));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    writeFileSync(file, Buffer.concat([length, head, ...parts]), { mode: 0o644 });
    // Calls of the others fail for want of a service; what counts is what they loaded.
    if (app !== "step-runner" && scripts.size > 0) process.exitCode = 0;
  });
  process.argv[1] = main;
  Module._load(main, null, true);
}

/** Gives the code of a chunk that runs before this one kept, as a function of the chunk's name. */
function readKept(path) {
  if (!existsSync(path)) return Object.assign(() => undefined, { names: [] });
  const pack = readFileSync(path);
  const start = 4 + pack.readUInt32LE(0);
  const { chunks } = JSON.parse(pack.toString("utf8", 4, start));
  const codeOf = (name) => {
    if (chunks[name] === undefined) return undefined;
    const [at, length] = chunks[name];
    return pack.subarray(start + at, start + at + length);
  };
  return Object.assign(codeOf, { names: Object.keys(chunks) });
}

const { STEPS_CODE_OF: training, STEPS_CODE_FILE: file } = process.env;
if (training !== undefined) train(training, file);
else for (const app of process.argv.slice(2)) keepCode(app);
