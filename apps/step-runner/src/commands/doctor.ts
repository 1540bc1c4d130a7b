import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { print, type Terminal, terminalOf } from "@steps/console/terminal";
import { userDirectories } from "@steps/engine/runs";
import { printable } from "@steps/model/diagnostic";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import type { Finding } from "../doctor/finding.ts";
import { fetchFlags, stateDir } from "../flags/run-flags.ts";
import { openEngine } from "../open-engine.ts";

const flags = {
  report: flag.choice(["json"], { summary: "Print what was found for a program" }),
  "cache-dir": fetchFlags["cache-dir"],
  "state-dir": stateDir,
};
type Options = OptionsOf<typeof flags>;

export const doctor = defineCommand({
  name: "doctor",
  summary: "Check what steps may need on this machine, and say what works and what does not",
  usage: "[flags]",
  description: [
    "Looks at this program, the shell, Node.js, git, Docker or Podman, the folders of the user and the credentials for repositories and registries. Nothing is changed, and nothing is asked over the network.",
    "Exit code 0 if steps can run, although something may be missing that only some need; 1 if there is a problem.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["step-runner doctor", "see what works on this machine"],
    ["step-runner doctor --report json", "for a program, or a report of a bug"],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  const { checkCredentials } = await import("../doctor/check-credentials.ts");
  const { checkFolders } = await import("../doctor/check-folders.ts");
  const { checkPrograms } = await import("../doctor/check-programs.ts");
  const { checkRegistries } = await import("../doctor/check-registries.ts");
  await using engine = openEngine(options);
  const cacheDir = options.cacheDir ?? userDirectories(process.env).cache;
  const findings = [
    ...(await checkPrograms()),
    ...(await checkFolders(engine, cacheDir)),
    await checkCredentials(process.env),
    checkRegistries(),
  ];
  const hasProblem = findings.some(({ state }) => state === "problem");
  if (options.report === "json")
    await print(`${JSON.stringify({ version: 1, canRun: !hasProblem, findings }, null, 2)}\n`);
  else await print(findings.map((finding) => formatFinding(finding, terminalOf(1))).join(""));
  return hasProblem ? COMMAND_EXITS.failure.code : 0;
}

const MARKS: Readonly<Record<Finding["state"], string>> = { ok: "✓", missing: "-", problem: "✗" };

function formatFinding({ name, state, found, meaning }: Finding, { bold, red, dim }: Terminal): string {
  const mark = state === "problem" ? red(MARKS[state]) : MARKS[state];
  return `${mark} ${bold(name.padEnd(12))} ${printable(found)}\n${" ".repeat(15)}${dim(printable(meaning))}\n`;
}
