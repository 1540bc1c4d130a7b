// The address under which the project is published. No file of the tree names one, as a name that nobody has registered could be
// registered by anybody: STEPS_REPOSITORY gives it, or the `origin` of the clone where that is a web address.
import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The web address of the repository, without `.git`: `https://git.example/group/steps`. `undefined` where nobody says one. */
export function repositoryUrl() {
  const given = process.env["STEPS_REPOSITORY"] || originOf();
  const found = /^(?:git\+)?(https:\/\/[^\s@]+?)(?:\.git)?\/?$/.exec(given);
  if (found === null && process.env["STEPS_REPOSITORY"])
    throw new Error(`STEPS_REPOSITORY is no https address without a user: ${given}`);
  return found?.[1];
}

/** The keys of a manifest that say where the package comes from; none without an address. */
export function placesOf(url, directory) {
  if (url === undefined) return {};
  return {
    repository: { type: "git", url: `git+${url}.git`, directory },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

function originOf() {
  const done = spawnSync("git", ["remote", "get-url", "origin"], { cwd: root, encoding: "utf8" });
  return done.status === 0 ? done.stdout.trim() : "";
}
