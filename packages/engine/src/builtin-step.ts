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

/** The steps that are shipped with the runner, by the path behind `builtin://`. */
export type BuiltinName = "script" | "shell";

export function isBuiltinName(name: string): name is BuiltinName {
  return name === "script" || name === "shell";
}

/**
 * A step shipped with the runner. Both run a text in a shell, stop at the first failing line, also inside a pipe where
 * the shell is bash (`steps-language` C12), and read back outputs that nobody declared. `script` is what nearly every
 * `script:` needs; `shell` takes the options too.
 */
export function builtinStep(name: BuiltinName, shell: string = defaultShell()): SpecDefinition {
  const env = { STEP_OUTPUT_FILE: "${{ output_file }}", STEP_EXPORT_FILE: "${{ export_file }}" };
  const inputs = { script: { type: "string", isSensitive: false } } as const;
  if (name === "shell") {
    return {
      spec: { inputs: { ...inputs, ...shellOptions }, outputs: {}, hasOpenOutputs: true },
      definition: { type: "exec", command: shellCommand(shell), env },
    };
  }
  const flags = shell.endsWith("bash") ? ["-e", "-o", "pipefail"] : ["-e"];
  return {
    spec: { inputs, outputs: {}, hasOpenOutputs: true },
    definition: { type: "exec", command: [shell, ...flags, "-c", "${{ inputs.script }}"], env },
  };
}

const shellOptions: Readonly<Record<string, InputSpec>> = {
  shell: { type: "string", isSensitive: false, default: "" },
  errexit: { type: "boolean", isSensitive: false, default: true },
  pipefail: { type: "boolean", isSensitive: false, default: true },
  xtrace: { type: "boolean", isSensitive: false, default: false },
};

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
