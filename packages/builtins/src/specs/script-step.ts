import { accessSync, constants } from "node:fs";
import type { InputSpec, SpecDefinition } from "@steps/model/definition";

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
 * shell is bash (conformance section 20 C12), and reads back outputs that nobody declared.
 *
 * Nearly every script needs one argument only; an invocation that sets an option is the only one to pay for options.
 */
export function scriptStep(
  options: { readonly hasOptions?: boolean; readonly stopsAtFailure?: boolean; readonly shell?: string } = {},
): SpecDefinition {
  const { hasOptions = false, stopsAtFailure = true, shell = defaultShell() } = options;
  const env = { STEP_OUTPUT_FILE: "${{ output_file }}", STEP_EXPORT_FILE: "${{ export_file }}" };
  const inputs = { script: { type: "string", isSensitive: false }, ...shellOptions(stopsAtFailure) } as const;
  const flags = stopsAtFailure ? (shell.endsWith("bash") ? ["-e", "-o", "pipefail"] : ["-e"]) : [];
  const command = hasOptions ? shellCommand(shell) : [shell, ...flags, "-c", "${{ inputs.script }}"];
  return { spec: { inputs, outputs: {}, hasOpenOutputs: true }, definition: { type: "exec", command, env } };
}

function shellOptions(stopsAtFailure: boolean): Readonly<Record<string, InputSpec>> {
  return {
    shell: { type: "string", isSensitive: false, default: "" },
    errexit: { type: "boolean", isSensitive: false, default: stopsAtFailure },
    pipefail: { type: "boolean", isSensitive: false, default: stopsAtFailure },
    xtrace: { type: "boolean", isSensitive: false, default: false },
  };
}

const IS_PWSH = 'endsWith(inputs.shell, "pwsh")';

/** As many as there are switches for the other shells: which shell it is, is known when the command is expanded. */
const PWSH_SWITCHES: readonly string[] = [
  "-NoProfile", "-NonInteractive", "-InputFormat", "Text", "-OutputFormat", "Text",
]; // oxfmt-ignore

// `+o nounset` is the state every shell starts in: it fills the place of `pipefail` for shells that know no such option.
function shellCommand(shell: string): string[] {
  const isBash = `(inputs.shell == "" && ${shell.endsWith("bash")} || endsWith(inputs.shell, "bash"))`;
  const toggle = (condition: string) => `(${condition} && "-o" || "+o")`;
  const switches = [
    toggle("inputs.errexit"),
    '"errexit"',
    toggle(`inputs.pipefail && ${isBash}`),
    `(${isBash} && "pipefail" || "nounset")`,
    toggle("inputs.xtrace"),
    '"xtrace"',
  ];
  return [
    `\${{ inputs.shell || "${shell}" }}`,
    ...switches.map((other, index) => `\${{ ${IS_PWSH} && "${PWSH_SWITCHES[index] ?? ""}" || ${other} }}`),
    `\${{ ${IS_PWSH} && "-Command" || "-c" }}`,
    `\${{ ${IS_PWSH} && (${pwshText()}) || inputs.script }}`,
  ];
}

// PowerShell has no switch for it: errors, and since 7.4 programs that fail, end what runs where these variables say so.
// The last line gives the exit code of the last command, which `-Command` makes 0 or 1 of.
function pwshText(): string {
  const errexit = "$ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true\\n";
  const last = "\\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }";
  const xtrace = "Set-PSDebug -Trace 1\\n";
  return `(inputs.errexit && "${errexit}" || "") + (inputs.xtrace && "${xtrace}" || "") + inputs.script + "${last}"`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not ours to run: the next place is tried.
    return false;
  }
}
