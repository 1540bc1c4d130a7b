// prepack and postpack of every published package: a packed package.json names plain versions, whoever packs it. pnpm
// replaces `workspace:` and `catalog:` itself, npm leaves them as they are, and what it packs could not be installed.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { placesOf, repositoryUrl } from "./repository.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifestPath = join(process.cwd(), "package.json");
const { name } = JSON.parse(readFileSync(manifestPath, "utf8"));
// Not in the package, whose files are packed; a pack that was killed is put right by the next one.
const kept = join(root, ".setup", "manifests", `${name.replaceAll("/", "+")}.json`);

restore();
if (!process.argv.includes("--restore")) {
  const text = readFileSync(manifestPath, "utf8");
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, text);
  writeWhole(manifestPath, `${JSON.stringify(published(JSON.parse(text)), null, 2)}\n`);
}

function restore() {
  if (!existsSync(kept)) return;
  writeWhole(manifestPath, readFileSync(kept, "utf8"));
  rmSync(kept);
}

function writeWhole(path, text) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

/** The manifest for those who install the package: plain versions, and nothing that is for this work tree. */
function published({ scripts, devDependencies, dependencies = {}, ...rest }) {
  void scripts;
  void devDependencies;
  const needed = rest.bin === undefined ? Object.keys(dependencies) : neededAtRunTime(Object.keys(dependencies));
  const plain = needed.map((dependency) => [dependency, versionOf(dependency, dependencies[dependency])]);
  return {
    ...rest,
    ...placesOf(repositoryUrl(), relative(root, process.cwd())),
    dependencies: Object.fromEntries(plain),
  };
}

/** A command is bundled: it needs the packages that its bundle still asks for by name. */
function neededAtRunTime(dependencies) {
  const dist = join(process.cwd(), "dist");
  const text = readdirSync(dist)
    .filter((name) => name.endsWith(".cjs"))
    .map((name) => readFileSync(join(dist, name), "utf8"))
    .join("\n");
  return dependencies.filter((name) => ['"', "'", "`"].some((mark) => text.includes(`(${mark}${name}${mark})`)));
}

function versionOf(dependency, range) {
  if (range === "catalog:") return catalogued(dependency);
  const workspace = /^workspace:([~^]?)\*?$/.exec(range);
  if (workspace === null) return range;
  const { version } = JSON.parse(readFileSync(join(process.cwd(), "node_modules", dependency, "package.json"), "utf8"));
  return `${workspace[1]}${version}`;
}

function catalogued(dependency) {
  const text = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const lines = text.slice(text.indexOf("\ncatalog:\n")).split("\n");
  const names = [dependency, `"${dependency}"`];
  const line = lines.find((row) => names.some((given) => row.startsWith(`  ${given}: `)));
  if (line === undefined) throw new Error(`${dependency} is not in the catalog of pnpm-workspace.yaml`);
  return line.slice(line.lastIndexOf(": ") + 2).trim();
}
