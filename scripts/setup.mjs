// Sets the work tree up: installs the pinned packages, builds, and links the command. Runs on Node 20, repeats only the parts
// whose files have changed since the last time, and needs no network when none have.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { archivePath } from "./database-archive.mjs";
import { installedBun, ownTarget, packCommand, packedPath } from "./pack.mjs";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const command = join(bin, "step-runner");
const ARCHIVER = "scripts/database-archive.mjs";

/** The environment in which programs of the set-up find the pinned Node and each other. */
export const environment = {
  ...process.env,
  PATH: `${bin}:${process.env["PATH"] ?? ""}`,
  TURBO_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
};

/**
 * Installs, builds and links what is missing: `step-runner` is the packed executable where Bun was installed and can make one that
 * starts, `step-runner-node` always runs on Node. Exits the process when a part fails.
 */
export function setUp() {
  const manifests = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ...packageFolders().map((p) => `${p}/package.json`),
  ];
  stamped({ name: "install", files: manifests, isThere: () => existsSync(join(bin, "tsc")), work: install });
  const archive = archivePath();
  const isMade = () => existsSync(archive);
  stamped({ name: "database", files: [ARCHIVER], facts: archive, isThere: isMade, work: makeArchive });
  stamped({ ...buildStep(), work: build });
  const target = ownTarget();
  const bun = target && installedBun(target);
  const packed = bun && packedPath(target);
  // An older set-up writes its own command through the link.
  const isThere = () =>
    existsSync(command) && (bun === undefined || (statSync(packed, { throwIfNoEntry: false })?.size ?? 0) > 2 ** 20);
  stamped({ name: "pack", files: packedSources(), facts: bun ?? "", isThere, work: () => chooseForm(bun && target) });
}

/** Runs a program of the set-up to its end and gives its exit code. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: "inherit", env: environment, ...options });
  if (done.error) {
    process.stderr.write(`Cannot start ${command}: ${done.error.message}\n`);
    return 1;
  }
  return done.status ?? 1;
}

function buildStep() {
  return { name: "build", files: sources(), isThere: () => existsSync(join(bin, "pod")) };
}

function stamped(step) {
  if (isUpToDate(step)) return;
  const stamp = stampOf(step);
  step.work();
  const file = stampFile(step);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stamp);
}

function isUpToDate(step) {
  const file = stampFile(step);
  return step.isThere() && existsSync(file) && readFileSync(file, "utf8") === stampOf(step);
}

function stampFile({ name }) {
  return join(root, ".setup", name);
}

function stampOf({ files, facts = "" }) {
  const hash = createHash("sha256").update(root).update(facts);
  for (const path of files) {
    if (existsSync(join(root, path))) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

function install() {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  process.stderr.write("Setting up (once, about a minute in all): installing packages…\n");
  const npx = ["--yes", "--prefer-offline", packageManager, "install", "--frozen-lockfile", "--reporter=append-only"];
  check(quietly("npx", npx), "Cannot install the packages");
}

function makeArchive() {
  process.stderr.write("Setting up: making a database for pods…\n");
  check(quietly("node", [join(root, ARCHIVER)]), "Cannot make the database");
}

function build() {
  process.stderr.write("Setting up: building…\n");
  // tsc leaves what it made of a source that is gone; a whole build takes a second.
  for (const folder of packageFolders()) {
    for (const made of ["dist", "build", "tsconfig.tsbuildinfo"])
      rmSync(join(root, folder, made), { recursive: true, force: true });
  }
  check(quietly(join(bin, "tsc"), ["-b"]), "Cannot build");
  check(quietly(join(bin, "rolldown"), ["-c", "rolldown.config.mjs"]), "Cannot bundle");
  for (const app of ["step-runner", "runner-bridge", "pod"]) {
    check(quietly("node", [join(root, "scripts", "code-cache.mjs"), app]), "Cannot keep the compiled code");
    link(app === "step-runner" ? "step-runner-node" : app, join(root, "apps", app, "dist", "main.cjs"));
  }
}

// The command is the same on Node, and starts and runs steps in a third of the time as an executable.
function chooseForm(target) {
  if (target !== undefined) {
    process.stderr.write("Setting up: packing the command…\n");
    try {
      const packed = packCommand(target);
      const started = spawnSync(packed, ["--version"], { encoding: "utf8", timeout: 30_000 });
      if (started.status !== 0)
        throw new Error(
          started.error?.message ?? `it ended with ${started.signal ?? started.status} ${started.stderr}`,
        );
      rmSync(command, { force: true });
      symlinkSync(relative(bin, packed), command);
      return;
    } catch (error) {
      process.stderr.write(`Setting up: step-runner runs on Node, for want of an executable: ${error.message}\n`);
    }
  }
  link("step-runner", join(root, "apps", "step-runner", "dist", "main.cjs"));
}

// pnpm's own shim starts four processes before Node; the command's start-up time is measured, so ours starts none.
function link(name, main) {
  const pinned = join(bin, "node");
  const node = existsSync(pinned) ? pinned : process.execPath;
  // It may be a link to an executable.
  rmSync(join(bin, name), { force: true });
  writeFileSync(join(bin, name), `#!/bin/sh\nexec ${quote(node)} ${quote(main)} "$@"\n`);
  chmodSync(join(bin, name), 0o755);
}

function quote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quietly(command, args) {
  const done = spawnSync(command, args, { cwd: root, env: environment, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  if (done.status !== 0) process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}\n`);
  return done.status ?? 1;
}

function check(status, message) {
  if (status === 0) return;
  process.stderr.write(`${message}: exit status ${status}\n`);
  process.exit(1);
}

function packageFolders() {
  return ["packages", "apps"].flatMap((parent) =>
    existsSync(join(root, parent))
      ? readdirSync(join(root, parent))
          .toSorted()
          .map((name) => `${parent}/${name}`)
      : [],
  );
}

/** The files that the executable is made of: those of the command and of the packages that it names, and theirs. */
function packedSources() {
  const folders = new Set();
  const add = (folder) => {
    if (folders.has(folder)) return;
    folders.add(folder);
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    for (const name of Object.keys(dependencies))
      if (name.startsWith("@steps/")) add(name.replace("@steps", "packages"));
  };
  add("apps/step-runner");
  const nested = [...folders].flatMap((folder) => [`${folder}/package.json`, ...walk(`${folder}/src`)]);
  return [
    "scripts/pack.mjs",
    "scripts/pack.tsconfig.json",
    "apps/step-runner/code-order.txt",
    "tsconfig.base.json",
    "scripts/setup.mjs",
    ".setup/install",
    ...nested.filter((path) => !path.endsWith(".test.ts")),
  ];
}

function sources() {
  const own = [
    "tsconfig.base.json",
    "tsconfig.json",
    "rolldown.config.mjs",
    "scripts/bundled-packages.mjs",
    "scripts/code-cache.mjs",
    "scripts/code-loader.cjs",
    "scripts/setup.mjs",
    "scripts/training.mjs",
    ".setup/database",
    ".setup/install",
  ];
  const nested = packageFolders().flatMap((folder) => [
    `${folder}/package.json`,
    `${folder}/tsconfig.json`,
    ...walk(`${folder}/src`),
  ]);
  return [...own, ...nested.filter((path) => !path.endsWith(".test.ts"))];
}

function walk(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? walk(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // With --check it only says, by its exit code, whether the tree was built from the sources as they are now.
  if (process.argv[2] === "--check") process.exitCode = isUpToDate(buildStep()) ? 0 : 1;
  else setUp();
}
