import { dirname, resolve } from "node:path";
import { flag, type Flags, grouped, type Settings, type SettingsCall } from "@steps/console";
import { findSettings } from "./find-settings.ts";

/** The flag that names a file with settings. */
export const settingsFlags = grouped("The file", {
  config: flag.path({
    placeholder: "FILE",
    summary:
      "Flags by their names, which those of the command line and of the environment win over; .step-runner.yml of the project by default",
    env: "STEP_RUNNER_CONFIG",
  }),
});

/** The settings that hold for a call of `local` or `pipeline`. @throws {UsageError} */
export async function settingsOfCall(flags: Flags, call: SettingsCall): Promise<Settings> {
  const named = call.value("config");
  const path = named === undefined ? findSettings(await projectFolder(call)) : resolve(named);
  if (path === undefined) return {};
  const { readSettings } = await import("@steps/console/settings");
  const { PROJECT_FLAGS } = await import("./project-flags.ts");
  const { readSource } = await import("../files/read-source.ts");
  const allowed = named === undefined ? PROJECT_FLAGS : undefined;
  return readSettings(readSource(path), { flags, others: PROJECT_FLAGS, allowed });
}

async function projectFolder({ value, positionals: [file] }: SettingsCall): Promise<string> {
  const workDir = value("work-dir");
  if (workDir !== undefined) return resolve(workDir);
  if (file !== undefined) return dirname(resolve(file));
  const { findCiFile, hasCiFile } = await import("../input/load-ci-file.ts");
  return hasCiFile() ? dirname(resolve(findCiFile())) : process.cwd();
}
