import { flag, type OptionsOf } from "@steps/console";
import { configFile } from "../directories.ts";

/** The flag of all commands about registered runners. */
export const configFlags = {
  config: flag.path({
    placeholder: "FILE",
    summary: "The file with the runners; runner-bridge/runners.yml below XDG_CONFIG_HOME or ~/.config by default",
    env: "RUNNER_BRIDGE_CONFIG",
  }),
};

/** The file with the runners. */
export function configOf({ config }: OptionsOf<typeof configFlags>): string {
  return config ?? configFile(process.env);
}
