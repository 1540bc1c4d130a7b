// The packages whose code a bundle holds, for the notices that go along with it and for its bill of materials.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The packages of others that modules come from, sorted by name and version, each once: `{name, version, license, folder}`. */
export function packagesOf(moduleIds) {
  const folders = new Set(moduleIds.map(folderOf).filter((folder) => folder !== undefined));
  const found = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    found.set(`${name}@${version}`, { name, version, license: license ?? "NOASSERTION", folder });
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Writes `third-party.txt` beside a bundle: the packages in it, with their licenses, and those that what lies beside it was made of. */
export function noticesPlugin(more = []) {
  return {
    name: "third-party-notices",
    generateBundle(options, bundle) {
      const ids = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
      this.emitFile({ type: "asset", fileName: "third-party.txt", source: noticesOf(packagesOf([...ids, ...more])) });
    },
  };
}

/** The text of the notices. */
export function noticesOf(packages) {
  const parts = packages.map(({ name, version, license, folder }) => {
    const texts = licenseFiles(folder).map((path) => readFileSync(path, "utf8").trim());
    const text =
      texts.length > 0
        ? texts.join("\n\n")
        : `The package names its license alone: https://spdx.org/licenses/${license}.html`;
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `This program holds code of the packages below.\n\n${parts.join(`\n${"-".repeat(72)}\n\n`)}`;
}

function licenseFiles(folder) {
  return readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice|copying)(?:$|[.-])/i.test(name) && !/\.(?:js|ts|json)$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

/** The folder of the package of a module, below the innermost `node_modules`. */
function folderOf(id) {
  const path = id.replace(/^\0/, "").replace(/\?.*$/, "");
  const at = path.lastIndexOf("/node_modules/");
  if (at === -1) return undefined;
  const [scope, name] = path.slice(at + "/node_modules/".length).split("/");
  const folder = join(path.slice(0, at), "node_modules", scope?.startsWith("@") ? `${scope}/${name}` : (scope ?? ""));
  return existsSync(join(folder, "package.json")) ? folder : folderOf(dirname(path.slice(0, at)));
}
