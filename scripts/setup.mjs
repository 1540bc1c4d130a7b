// Sets the work tree up: installs the pinned packages, builds, and links the command. Runs on Node 20, repeats only the parts
// whose files have changed since the last time, and needs no network when none have.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");

/** The environment in which programs of the set-up find the pinned Node and each other. */
export const environment = {
  ...process.env,
  PATH: `${bin}:${process.env["PATH"] ?? ""}`,
  TURBO_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
};

/** Installs, builds and links what is missing. Exits the process when a part fails. */
export function setUp() {
  const manifests = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ...packageFolders().map((p) => `${p}/package.json`),
  ];
  stamped("install", manifests, join(bin, "tsc"), install);
  stamped("build", sources(), join(bin, "runner-bridge"), build);
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

function stamped(name, files, witness, work) {
  const file = join(root, ".setup", name);
  const hash = createHash("sha256").update(root);
  for (const path of files) {
    if (existsSync(join(root, path))) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  const stamp = hash.digest("hex");
  if (existsSync(witness) && existsSync(file) && readFileSync(file, "utf8") === stamp) return;
  work();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, stamp);
}

function install() {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  process.stderr.write("Setting up: installing packages (once, about 10 seconds)…\n");
  const npx = ["--yes", "--prefer-offline", packageManager, "install", "--frozen-lockfile", "--reporter=append-only"];
  check(quietly("npx", npx), "Cannot install the packages");
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
  for (const app of ["step-runner", "runner-bridge"]) {
    check(quietly("node", [join(root, "scripts", "code-cache.mjs"), app]), "Cannot keep the compiled code");
    link(app, join(root, "apps", app, "dist", "main.cjs"));
  }
}

// pnpm's own shim starts four processes before Node; the command's start-up time is measured, so ours starts none.
function link(name, main) {
  const pinned = join(bin, "node");
  const node = existsSync(pinned) ? pinned : process.execPath;
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

function sources() {
  const own = [
    "tsconfig.base.json",
    "tsconfig.json",
    "rolldown.config.mjs",
    "scripts/code-cache.mjs",
    "scripts/code-loader.cjs",
    "scripts/setup.mjs",
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

if (process.argv[1] === fileURLToPath(import.meta.url)) setUp();
