import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { privateDirectory } from "@steps/engine/runs";
import { sha256 } from "@steps/platform";
import { ownCommand, runtimeVersion } from "@steps/platform/runtime";
import { bootstrap } from "../bootstrap/bootstrap.ts";
import { VERSION } from "../version.ts";

/**
 * The folder with this program in a form that runs in any container, below the state directory. It is made by the first job in a
 * container, and again when the program is another one; otherwise this costs the look at a few files.
 *
 * @throws {BootstrapError}
 */
export function containerProgram(stateDir: string): string {
  privateDirectory(stateDir);
  const dir = join(stateDir, "container-program");
  const stamp = join(dir, "stamp");
  const wanted = describeProgram();
  const launcher = join(dir, "step-runner");
  if (existsSync(launcher) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return dir;
  // Certificates and a git at the root of this machine are not meant for containers.
  bootstrap(launcher, { root: dir });
  writeFileSync(stamp, wanted);
  return dir;
}

// Reading the whole program for its digest would take longer than a short job.
function describeProgram(): string {
  const [program, main] = ownCommand();
  const facts = [realpathSync(program), ...(main === undefined ? [] : filesBeside(main))].map((path) => {
    const { size, mtimeMs } = statSync(path);
    return [path, size, mtimeMs];
  });
  return sha256(JSON.stringify([VERSION, runtimeVersion(), facts]));
}

function filesBeside(main: string): string[] {
  const bundle = dirname(realpathSync(main));
  return readdirSync(bundle)
    .map((name) => join(bundle, name))
    .toSorted();
}
