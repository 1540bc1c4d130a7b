// Checks the entries of the published packages: every public name has a comment at its declaration, the entry of a package
// itself has few names, and none passes on names that it does not list.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./setup.mjs";

/** More names belong into entries of their own, named by concept: `@steps/model/reference`. */
const MAX_NAMES = 25;
/** Their names are those of the schema, whose comments are in `proto/`. */
const GENERATED = /\/gen\//;

/** The manifests and folders of all packages that others can import. */
const packages = readdirSync(join(root, "packages"))
  .map((name) => join(root, "packages", name))
  .filter((dir) => existsSync(join(dir, "package.json")))
  .map((dir) => ({ dir, manifest: JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) }))
  .filter(({ manifest }) => manifest.exports !== undefined && manifest.private !== true);

/** The entries of a package: the specifiers by which they are imported, and their sources. */
const entries = new Map(
  packages.flatMap(({ dir, manifest }) =>
    Object.entries(manifest.exports).flatMap(([subpath, { "steps-source": source }]) =>
      source === undefined ? [] : [[manifest.name + subpath.slice(1), join(dir, source)]],
    ),
  ),
);

/**
 * The names that a file exports, each with the file and line that declare it.
 *
 * @returns {readonly { name: string, file: string, line: number }[]}
 */
function namesOf(file) {
  const text = readFileSync(file, "utf8");
  const declared = Array.from(
    text.matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
    ),
    ({ 1: name, index }) => ({ name, file, line: text.slice(0, index).split("\n").length }),
  );
  const passed = Array.from(text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)"/gm)).flatMap(([, list, from]) =>
    list
      .split(",")
      .map((part) => part.trim().replace(/^type /, ""))
      .filter((part) => part !== "")
      .map((part) => {
        const [inner, outer = inner] = part.split(" as ");
        const source = sourceOf(from, file);
        if (source === undefined) return { name: outer, file: undefined, line: 0 };
        const found = namesOf(source).find(({ name }) => name === inner);
        if (found === undefined) throw new Error(`${relative(root, file)}: no ${inner} in ${from}`);
        return { ...found, name: outer };
      }),
  );
  const all = Array.from(text.matchAll(/^export \* from "([^"]+)"/gm)).flatMap(([, from]) =>
    namesOf(sourceOf(from, file)),
  );
  return [...declared, ...passed, ...all];
}

function sourceOf(specifier, importer) {
  return specifier.startsWith(".") ? join(dirname(importer), specifier) : entries.get(specifier);
}

function hasComment({ file, line }) {
  // Passed on from a package that is not ours.
  if (file === undefined) return true;
  const before = readFileSync(file, "utf8")
    .split("\n")
    .slice(0, line - 1);
  // Overloads share the comment of the first; a directive of the linter may stand between.
  while (/^(?:export function|\/\/ oxlint-)/.test(before.at(-1) ?? "")) before.pop();
  return (before.at(-1) ?? "").endsWith("*/");
}

const problems = [...entries].flatMap(([specifier, file]) => {
  if (GENERATED.test(readFileSync(file, "utf8"))) return [];
  const at = relative(root, file);
  if (/^export \* from/m.test(readFileSync(file, "utf8"))) return [`${at}: export * hides the names of ${specifier}`];
  const names = namesOf(file);
  const tooMany =
    specifier.split("/").length === 2 && names.length > MAX_NAMES
      ? [`${at}: ${specifier} has ${names.length} names, at most ${MAX_NAMES} belong at the top`]
      : [];
  const bare = names.filter((name) => !hasComment(name));
  return [
    ...tooMany,
    ...bare.map(
      ({ name, file: own, line }) => `${relative(root, own)}:${line}: ${name} of ${specifier} has no comment`,
    ),
  ];
});
for (const problem of new Set(problems)) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
