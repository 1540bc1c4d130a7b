import { accessSync, constants } from "node:fs";
import type { InputSpec, SpecDefinition } from "@steps/model";

const SHELL_FOLDERS: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/** The shell that `script:` uses: the first bash in the usual places, else the first sh, else whatever `sh` is on the PATH. */
export function defaultShell(): string {
  for (const name of ["bash", "sh"]) {
    for (const folder of SHELL_FOLDERS) {
      if (isExecutable(`${folder}/${name}`)) return `${folder}/${name}`;
    }
  }
  return "sh";
}

/**
 * The step behind `script:`. It runs a text in a shell, stops at the first failing line, also inside a pipe where the
 * shell is bash (`steps-language` C12), and reads back outputs that nobody declared.
 *
 * What nearly every script needs is one argument; only an invocation that sets an option pays for the options.
 */
export function scriptStep(
  options: { readonly hasOptions?: boolean; readonly isLax?: boolean; readonly shell?: string } = {},
): SpecDefinition {
  const { hasOptions = false, isLax = false, shell = defaultShell() } = options;
  const env = { STEP_OUTPUT_FILE: "${{ output_file }}", STEP_EXPORT_FILE: "${{ export_file }}" };
  const inputs = { script: { type: "string", isSensitive: false }, ...shellOptions(!isLax) } as const;
  const flags = isLax ? [] : shell.endsWith("bash") ? ["-e", "-o", "pipefail"] : ["-e"];
  const command = hasOptions ? shellCommand(shell) : [shell, ...flags, "-c", "${{ inputs.script }}"];
  return { spec: { inputs, outputs: {}, hasOpenOutputs: true }, definition: { type: "exec", command, env } };
}

function shellOptions(isStrict: boolean): Readonly<Record<string, InputSpec>> {
  return {
    shell: { type: "string", isSensitive: false, default: "" },
    errexit: { type: "boolean", isSensitive: false, default: isStrict },
    pipefail: { type: "boolean", isSensitive: false, default: isStrict },
    xtrace: { type: "boolean", isSensitive: false, default: false },
  };
}

// `+o nounset` is the state every shell starts in: it fills the place of `pipefail` for shells that know no such option.
function shellCommand(shell: string): string[] {
  const isBash = `(inputs.shell == "" && ${shell.endsWith("bash")} || endsWith(inputs.shell, "bash"))`;
  const toggle = (condition: string) => `\${{ ${condition} && "-o" || "+o" }}`;
  return [
    `\${{ inputs.shell || "${shell}" }}`,
    toggle("inputs.errexit"),
    "errexit",
    toggle(`inputs.pipefail && ${isBash}`),
    `\${{ ${isBash} && "pipefail" || "nounset" }}`,
    toggle("inputs.xtrace"),
    "xtrace",
    "-c",
    "${{ inputs.script }}",
  ];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (cause) {
    // Not there, or not ours to run: the next place is tried.
    void cause;
    return false;
  }
}
