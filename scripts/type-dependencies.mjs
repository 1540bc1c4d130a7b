// Checks that no published package brings along what it needs for types alone: each of its dependencies is imported by its JavaScript,
// or comes along with one that is; and what its public declarations import is among its dependencies. Reads what `tsc -b` wrote.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./setup.mjs";

const packages = new Map(
  readdirSync(join(root, "packages"))
    .map((name) => join(root, "packages", name))
    .filter((dir) => existsSync(join(dir, "package.json")))
    .map((dir) => ({ dir, manifest: JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) }))
    .filter(({ manifest }) => manifest.exports !== undefined && manifest.private !== true)
    .map((one) => [one.manifest.name, one]),
);

/** The packages that files import, beginning with some and following what is relative. */
function importsOf(files, toFile) {
  const seen = new Set();
  const imported = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, specifier] of text.matchAll(/(?:\bfrom|\bimport\(?|\bresolve\()\s*"([^"\n]+)"/g)) {
      if (specifier.startsWith(".")) visit(toFile(join(dirname(file), specifier)));
      else if (!specifier.startsWith("node:")) imported.add(packageOf(specifier));
    }
  };
  for (const file of files) visit(file);
  return imported;
}

function packageOf(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function scriptsOf({ dir }) {
  const all = readdirSync(join(dir, "dist"), { recursive: true }).filter((file) => file.endsWith(".js"));
  return importsOf(
    all.map((file) => join(dir, "dist", file)),
    (file) => file,
  );
}

function declarationsOf({ dir, manifest }) {
  const entries = Object.values(manifest.exports).flatMap(({ types }) =>
    types === undefined ? [] : [join(dir, types)],
  );
  return importsOf(entries, (file) => file.replace(/\.(?:js|ts)$/, ".d.ts"));
}

/** Everything that is installed with a package because its JavaScript needs it. */
function installedWith(name, into = new Set()) {
  if (into.has(name)) return into;
  into.add(name);
  const one = packages.get(name);
  if (one !== undefined) for (const next of scriptsOf(one)) installedWith(next, into);
  return into;
}

function problemsOf(one) {
  const { dependencies = {}, devDependencies = {} } = one.manifest;
  const needed = scriptsOf(one);
  const alongside = installedWith(one.manifest.name);
  const idle = Object.keys(dependencies).filter((name) => !needed.has(name) && !alongside.has(name));
  // The types of some packages are packages of their own.
  const hasTypes = (name) => name in dependencies && !(`@types/${name}` in devDependencies);
  const missing = [...declarationsOf(one)].filter((name) => !hasTypes(name));
  return [
    ...idle.map((name) => `${name} is a dependency for types alone: move the types to a lower package`),
    ...missing.map((name) => `the public declarations need the types of ${name}, which do not come along`),
  ];
}

for (const one of packages.values()) {
  for (const problem of problemsOf(one)) {
    console.error(`${relative(root, one.dir)}: ${problem}`);
    process.exitCode = 1;
  }
}
