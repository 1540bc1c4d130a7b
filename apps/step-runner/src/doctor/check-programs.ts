import { lookForProgram, runBriefly } from "@steps/platform/processes";
import { ownNode, runtimeVersion } from "@steps/platform/runtime";
import { findEngine } from "../job-containers/find-engine.ts";
import { VERSION } from "../version.ts";
import type { Finding } from "./finding.ts";

const PATIENCE_MS = 10_000;

/** Says what is there of the programs that steps need, and what it means if one is not. Asks each for its version. */
export async function checkPrograms(): Promise<readonly Finding[]> {
  const asked = await Promise.all([checkNode(), checkGit(), checkContainers()]);
  return [checkSelf(), checkShell(), ...asked];
}

function checkSelf(): Finding {
  const found = `step-runner ${VERSION}, ${runtimeVersion()}, ${process.platform} ${process.arch}`;
  const isKnown = process.platform === "linux" || process.platform === "darwin";
  const meaning = isKnown ? "Steps run here." : "Steps run on Linux and macOS.";
  return { name: "step-runner", state: isKnown ? "ok" : "problem", found, meaning };
}

// Scripts look in these folders and nowhere else, so that a job cannot bring a shell of its own.
function checkShell(): Finding {
  const places = { path: "/usr/local/bin:/usr/bin:/bin", workDir: "/" };
  for (const name of ["bash", "sh"]) {
    const shell = lookForProgram(name, places);
    if (shell?.isExecutable !== true) continue;
    const rest = name === "bash" ? "" : " Without bash a failure inside a pipe goes unnoticed.";
    return { name: "shell", state: "ok", found: shell.file, meaning: `Scripts run.${rest}` };
  }
  return {
    name: "shell",
    state: "problem",
    found: "neither bash nor sh",
    meaning: "Scripts cannot run; steps with exec: can.",
  };
}

async function checkNode(): Promise<Finding> {
  const own = ownNode();
  if (own !== undefined)
    return {
      name: "node",
      state: "ok",
      found: `${own.version}, this program's own`,
      meaning: "JavaScript actions run.",
    };
  const found = await versionOf("node");
  return found === undefined
    ? {
        name: "node",
        state: "missing",
        found: "no node on the PATH",
        meaning: "JavaScript actions of GitHub cannot run.",
      }
    : { name: "node", state: "ok", found, meaning: "JavaScript actions run." };
}

async function checkGit(): Promise<Finding> {
  const found = await versionOf("git");
  return found === undefined
    ? {
        name: "git",
        state: "missing",
        found: "no git on the PATH",
        meaning: "The built-in git fetches over HTTP; SSH and credential helpers need a git.",
      }
    : { name: "git", state: "ok", found, meaning: "Repositories are fetched by it." };
}

async function checkContainers(): Promise<Finding> {
  const engine = await findEngine();
  if ("cli" in engine) {
    const { kind, program } = engine.cli;
    return {
      name: "containers",
      state: "ok",
      found: `${kind}, ${program}`,
      meaning: "Jobs with an image and Docker actions run.",
    };
  }
  const meaning = `Jobs with an image run on this machine instead, Docker actions cannot run. ${engine.hint}`;
  return { name: "containers", state: "missing", found: engine.message, meaning };
}

/** The first line that a program says of its version, with its path; `undefined` if it cannot be run. */
async function versionOf(name: string): Promise<string | undefined> {
  const program = lookForProgram(name, { path: process.env["PATH"], workDir: process.cwd() });
  if (program?.isExecutable !== true) return undefined;
  const call = { program: program.file, args: ["--version"], env: process.env, timeoutMs: PATIENCE_MS };
  const { exitCode, stdout } = await runBriefly(call);
  return exitCode === 0 ? `${stdout.trim().split("\n")[0] ?? ""}, ${program.file}` : undefined;
}
