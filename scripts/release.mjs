// Makes all that a release publishes, and publishes it: node scripts/release.mjs [--dry-run] [--out FOLDER]
// It makes the packages of npm, the executables with what goes along with them, the image, a bill of materials of each (SPDX) and
// SHA256SUMS, below FOLDER (default: release). Without --dry-run the tree must be clean and have the tag of the version, and the packages
// go to the registry of npm with their provenance, which npm makes where CI gives it an identity; those already there are left alone.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { packagesOf } from "./bundled-packages.mjs";
import { makeImage } from "./image.mjs";
import { installedBun, ownTarget, packCommand } from "./pack.mjs";
import { factsOfRelease, git } from "./release-facts.mjs";
import { repositoryUrl } from "./repository.mjs";
import { spdxDocument } from "./sbom.mjs";
import { environment, setUp } from "./setup.mjs";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const bin = join(root, "node_modules/.bin");
const USAGE = "usage: node scripts/release.mjs [--dry-run] [--out FOLDER] [--target TARGET]...\n";
/** The files that go along with an executable, by their names in its archive. */
const BESIDE = {
  LICENSE: "LICENSE",
  "README.md": "apps/step-runner/README.md",
  "third-party.txt": "apps/step-runner/dist/third-party.txt",
};

async function release({ isDry, out, targets }) {
  const problems = isDry ? [] : obstacles();
  if (problems.length > 0) throw new Error(`Nothing is released:\n  ${problems.join("\n  ")}`);
  setUp();
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const facts = factsOfRelease();
  const bundled = await packagesOfCommands();
  const own = { name: "step-runner", version: facts.version, license: "MIT" };
  const inCommand = [...bundled["step-runner"], bunPackage()];
  const packages = packAll(out);
  for (const { manifest, file } of packages) {
    const command = Object.keys(manifest.bin ?? {})[0];
    bill(out, file, { ...facts, artifact: manifest, contains: bundled[command], dependsOn: dependenciesOf(manifest) });
  }
  for (const target of targets)
    bill(out, archiveOf(out, target, facts), {
      ...facts,
      artifact: { ...own, purl: genericPurl(own) },
      contains: inCommand,
    });
  const image = join(out, `step-runner-${facts.version}-image-${process.arch}.tar`);
  makeImage({ ...facts, file: image, tag: "step-runner" });
  bill(out, image, { ...facts, artifact: { ...own, purl: genericPurl(own) }, contains: [...inCommand, libcPackage()] });
  writeSums(out);
  say(`${readdirSync(out).length} files are in ${out}`);
  publish(packages, isDry);
}

/** The reasons for which nothing may be published. */
function obstacles() {
  const { version } = factsOfRelease();
  const tags = git(["tag", "--points-at", "HEAD"]).split("\n");
  return [
    ...(git(["status", "--porcelain"]) === "" ? [] : ["the work tree is not clean"]),
    ...(tags.includes(`v${version}`) ? [] : [`the commit has no tag v${version}`]),
    ...(repositoryUrl() === undefined
      ? ["no address of the repository: set STEPS_REPOSITORY, or push to an origin"]
      : []),
  ];
}

/** The packages of others in the bundles of the commands, by the name of the command. */
async function packagesOfCommands() {
  const { rolldown } = await import("rolldown");
  process.chdir(root);
  const { default: configs } = await import("../rolldown.config.mjs");
  const found = {};
  for (const config of configs) {
    const { output, ...input } = config;
    const bundle = await rolldown(input);
    const { output: parts } = await bundle.generate(output);
    await bundle.close();
    found[basename(resolve(root, output.dir, ".."))] = packagesOf(parts.flatMap(({ moduleIds = [] }) => moduleIds));
  }
  return found;
}

/** Packs every package that is not private; in the order in which they depend on each other. */
function packAll(out) {
  const folders = ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
  );
  const known = folders
    .filter((folder) => existsSync(join(folder, "package.json")))
    .map((folder) => ({ folder, source: readJson(join(folder, "package.json")) }))
    .filter(({ source }) => source.private !== true);
  const filters = known.map(({ source }) => `--filter=${source.name}`);
  say(`packing ${known.length} packages…`);
  call(join(bin, "pnpm"), ["--recursive", ...filters, "pack", "--pack-destination", out]);
  return inOrder(known).map(({ source }) => {
    const file = join(out, `${source.name.replace("@", "").replace("/", "-")}-${source.version}.tgz`);
    return { file, manifest: JSON.parse(call("tar", ["-xzOf", file, "package/package.json"])) };
  });
}

function inOrder(packages) {
  const ordered = new Set();
  const visit = (one) => {
    if (one === undefined || ordered.has(one)) return;
    for (const name of Object.keys(one.source.dependencies ?? {}))
      visit(packages.find(({ source }) => source.name === name));
    ordered.add(one);
  };
  for (const one of packages) visit(one);
  return [...ordered];
}

/** Makes the executable for a target, and an archive with what goes along with it. */
function archiveOf(out, target, { version, created }) {
  say(`making the executable for ${target}…`);
  const name = `step-runner-${version}-${target}`;
  const work = mkdtempSync(join(tmpdir(), "steps-release-"));
  try {
    const folder = join(work, name);
    mkdirSync(folder);
    copyFileSync(packCommand(target), join(folder, "step-runner"));
    for (const [to, from] of Object.entries(BESIDE)) copyFileSync(join(root, from), join(folder, to));
    cpSync(join(root, "packaging/systemd"), join(folder, "systemd"), { recursive: true });
    const file = join(out, `${name}.tar.gz`);
    const flags = [
      "--sort=name",
      "--owner=0",
      "--group=0",
      "--numeric-owner",
      "--mode=u=rwX,go=rX",
      `--mtime=${created}`,
    ];
    call("tar", [...flags, "--use-compress-program=gzip -n", "-cf", file, "-C", work, name]);
    return file;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function bill(out, file, { artifact, created, ...parts }) {
  const checksums = [{ algorithm: "SHA256", checksumValue: sha256(file) }];
  const document = spdxDocument({ ...parts, created, artifact: { ...artifact, fileName: basename(file), checksums } });
  writeFileSync(join(out, `${basename(file)}.spdx.json`), `${JSON.stringify(document, null, 2)}\n`);
}

/** The packages that npm installs beside one, as its manifest names them. */
function dependenciesOf({ dependencies = {} }) {
  return Object.entries(dependencies).map(([name, range]) => ({
    name,
    // A bill names versions; a range of ours begins with the one that was tested.
    version: range.replace(/^[~^]/, ""),
    license: "NOASSERTION",
  }));
}

function bunPackage() {
  const { version } = readJson(resolve(installedBun(ownTarget()), "../../package.json"));
  return { name: "bun", version, license: "MIT", purl: `pkg:github/oven-sh/bun@bun-v${version}` };
}

function libcPackage() {
  const done = spawnSync("dpkg-query", ["-W", "-f=${Version}", "libc6"], { encoding: "utf8" });
  const version = done.status === 0 ? done.stdout : "NOASSERTION";
  return { name: "glibc", version, license: "LGPL-2.1-or-later", purl: `pkg:generic/glibc@${version}` };
}

function genericPurl({ name, version }) {
  return `pkg:generic/${name}@${version}`;
}

function writeSums(out) {
  const lines = readdirSync(out)
    .toSorted()
    .map((name) => `${sha256(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

/** Hands the packages to npm, those that others need first. */
function publish(packages, isDry) {
  for (const { file, manifest } of packages) {
    const id = `${manifest.name}@${manifest.version}`;
    if (isDry) {
      say(`would publish ${id}`);
      continue;
    }
    const known = spawnSync("npm", ["view", id, "version"], { cwd: root, env: environment, encoding: "utf8" });
    if (known.status === 0 && known.stdout.trim() === manifest.version) say(`${id} is published already`);
    else call("npm", ["publish", file, "--access", "public", "--provenance"]);
  }
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

function call(program, args) {
  const done = spawnSync(program, args, { cwd: root, env: environment, encoding: "utf8", maxBuffer: 2 ** 28 });
  if (done.status === 0) return done.stdout;
  throw new Error(`${program} ${args[0]} failed: ${done.error?.message ?? `${done.stdout}${done.stderr}`}`);
}

function say(text) {
  process.stderr.write(`release: ${text}\n`);
}

const { values } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    out: { type: "string", default: join(root, "release") },
    target: {
      type: "string",
      multiple: true,
      default: ["linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl"],
    },
    help: { type: "boolean", default: false },
  },
});
if (values.help) process.stdout.write(USAGE);
else {
  try {
    await release({ isDry: values["dry-run"], out: resolve(values.out), targets: values.target });
  } catch (error) {
    process.stderr.write(`release: ${error.message}\n`);
    process.exitCode = 1;
  }
}
