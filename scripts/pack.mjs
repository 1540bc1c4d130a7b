// Packs the command as one executable, which holds the program, its compiled code and Bun: node scripts/pack.mjs [TARGET...]
// TARGET is linux-x64, linux-arm64, linux-x64-musl or linux-arm64-musl; without any it is that of this machine. The files lie in
// packed/. Bun comes from npm, in the version that package.json pins and with the digest that pnpm-lock.yaml has.
// node scripts/pack.mjs --train writes apps/step-runner/code-order.txt anew: with each release, and when Bun changes.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeProject, TRAINING } from "./training.mjs";

const self = fileURLToPath(import.meta.url);
const root = dirname(dirname(self));
const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The packages of Bun by the targets of ours. That for x64 runs on any processor of that kind: it needs no AVX. */
const PACKAGES = {
  "linux-x64": "@oven/bun-linux-x64",
  "linux-arm64": "@oven/bun-linux-aarch64",
  "linux-x64-musl": "@oven/bun-linux-x64-musl",
  "linux-arm64-musl": "@oven/bun-linux-aarch64-musl",
};

// A part of the program is loaded when it is needed. Nothing that lies in the folder where the command is called changes it.
const OPTIONS = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--minify-whitespace",
  "--minify-syntax",
  // Until `compileAfterStart()`, code is compiled only after it ran ten times as often as usual.
  "--compile-jit-policy=10",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-tsconfig",
  "--no-compile-autoload-package-json",
  "--conditions=steps-source",
  "--tsconfig-override=scripts/pack.tsconfig.json",
];

const ORDER = join(root, "apps", "step-runner", "code-order.txt");

/** The target of this machine: `linux-x64`. `undefined` where there is none. */
export function ownTarget() {
  process.report.excludeNetwork = true;
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  const target = `${process.platform}-${process.arch}${isGlibc ? "" : "-musl"}`;
  return target in PACKAGES ? target : undefined;
}

/** The Bun that was installed for a target: its absolute path. `undefined` without one. */
export function installedBun(target) {
  try {
    const bun = join(dirname(createRequire(self).resolve(`${PACKAGES[target]}/package.json`)), "bin", "bun");
    return existsSync(bun) ? bun : undefined;
  } catch {
    return undefined;
  }
}

/** The path at which the executable for a target is put. */
export function packedPath(target) {
  return join(root, "packed", `step-runner-${target}`);
}

/** Makes the executable for a target. @throws {Error} if that cannot be done */
export function packCommand(target) {
  if (!(target in PACKAGES)) throw new Error(`No target ${target}: there are ${Object.keys(PACKAGES).join(", ")}`);
  const bun = ownBun();
  const path = packedPath(target);
  const draft = `${path}.draft`;
  const base = installedBun(target) ?? fetchBun(target);
  mkdirSync(dirname(path), { recursive: true });
  try {
    build(bun, { base, file: draft, order: ORDER });
    // A file that runs is never written to: those who started it go on with what it was.
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return path;
}

function ownBun() {
  const own = ownTarget();
  const bun = own && installedBun(own);
  if (bun === undefined) throw new Error(`Bun is not installed here: no package ${PACKAGES[own] ?? "for this system"}`);
  return bun;
}

function build(bun, { base, file, order }) {
  const args = [...OPTIONS, `--compile-executable-path=${base}`, "--outfile", file];
  if (order !== undefined) args.push(`--bytecode-order=${order}`);
  const env = { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"] };
  runHere(bun, ["build", ...args, "apps/step-runner/src/main.ts"], { env });
}

/**
 * Runs the executable of this machine on a few jobs and writes down which functions they needed. The compiled code of all functions is
 * mapped from the file, in pages; those that most jobs need are put side by side, so that few pages hold them. They are a file of the
 * repository since two trainings differ in a few: one commit gives one executable. @throws {Error} if that cannot be done
 */
export function trainCommand() {
  const bun = ownBun();
  const scratch = mkdtempSync(join(tmpdir(), "steps-pack-"));
  try {
    // A program that is in order already tells less.
    const program = join(scratch, "step-runner");
    build(bun, { base: bun, file: program });
    const cwd = makeProject(scratch);
    // With more kinds of calls than these, a short job finds its own functions farther apart.
    const jobs = TRAINING["step-runner"].filter(({ args }) => args[0] === "ci");
    const orders = jobs.map(({ args, env }, index) => {
      const order = join(scratch, `order-${index}`);
      const variables = { PATH: process.env["PATH"], HOME: scratch, ...env, BUN_BYTECODE_ORDER_OUT: order };
      runHere(program, args, { cwd, env: variables });
      return readFileSync(order, "utf8").split("\n");
    });
    const [[format]] = orders;
    // A line is a kind and a digest. Those of functions are enough; what belongs to them would be twenty times as many lines.
    const lines = new Set(orders.flatMap((order) => order.filter((line) => /^[FN] /.test(line))));
    writeFileSync(ORDER, `${[format, ...lines].join("\n")}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Brings the Bun of another kind of machine, which npm would not install here. */
function fetchBun(target) {
  const name = PACKAGES[target];
  const version = optionalDependencies[name];
  const folder = join(root, ".setup", `bun-${target}-${version}`);
  const bun = join(folder, "package", "bin", "bun");
  if (existsSync(bun)) return bun;
  mkdirSync(dirname(folder), { recursive: true });
  const scratch = mkdtempSync(`${folder}-`);
  try {
    const archive = join(
      scratch,
      runHere("npm", ["pack", "--silent", "--pack-destination", scratch, `${name}@${version}`]).trim(),
    );
    const digest = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (digest !== lockedDigest(`${name}@${version}`))
      throw new Error(`${name}@${version} is not what was locked: ${digest}`);
    runHere("tar", ["-xzf", archive, "-C", scratch]);
    rmSync(archive);
    renameSync(scratch, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return bun;
}

function lockedDigest(id) {
  const lock = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
  const at = lock.indexOf(`\n  '${id}':\n`);
  return at === -1 ? undefined : /integrity: ([^,}]+)/.exec(lock.slice(at))?.[1];
}

function runHere(program, args, { cwd = root, env = process.env } = {}) {
  const done = spawnSync(program, args, { cwd, env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (done.status === 0) return done.stdout;
  throw new Error(`${program} ${args[0]} failed: ${done.error?.message ?? ""}${done.stdout ?? ""}${done.stderr ?? ""}`);
}

if (process.argv[1] === self) {
  const targets = process.argv.slice(2);
  try {
    if (targets[0] === "--train") trainCommand();
    else
      for (const target of targets.length > 0 ? targets : [ownTarget()])
        process.stdout.write(`${packCommand(target)}\n`);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
