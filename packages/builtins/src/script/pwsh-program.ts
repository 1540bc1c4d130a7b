import { type ScriptProgram, shownPart } from "./posix-program.ts";

/**
 * The text of a PowerShell program that runs commands as GitLab's runner does: each is shown before it runs, and the first one
 * that fails ends the script with its exit code. What earlier scripts of the job wrote to `$GITLAB_ENV` is in the environment.
 */
export function pwshProgram(program: ScriptProgram): string {
  const { commands, needsStepRunner, isTraced, failureWarning } = program;
  const warning = failureWarning === "" ? "" : warningOf(failureWarning);
  const text = [
    HEADER,
    needsStepRunner ? "if (-not (Test-Path /step-runner)) { Set-Alias /step-runner step-runner }\n" : "",
    isTraced ? "Set-PSDebug -Trace 2\n" : "",
    ...commands.map((command, at) => commandOf(command, at, program)),
  ].join("");
  // In a block nothing runs before all of it was read, and errors of the language end it like those of commands.
  return `& {\ntry {\n${text}} catch {\n[Console]::Error.WriteLine($_)\n${warning}exit 1\n}\n}\n`;
}

const HEADER = String.raw`$ErrorActionPreference = 'Stop'
if ($env:GITLAB_ENV -and (Test-Path -LiteralPath $env:GITLAB_ENV)) {
  foreach ($__steps_line in Get-Content -LiteralPath $env:GITLAB_ENV) {
    $__steps_name, $__steps_value = $__steps_line.Trim() -split '=', 2
    if ($__steps_name) { Set-Item -LiteralPath "env:$__steps_name" -Value $__steps_value }
  }
}
$__steps_line = if ([Console]::IsOutputRedirected) { '{0}' } else { "$([char]27)[32;1m{0}$([char]27)[0;m" }
`;

function commandOf(command: string, at: number, program: ScriptProgram): string {
  const { isEchoed, hasSections } = program;
  const text = command.trim();
  if (text === "") return isEchoed ? "Write-Host\n" : "";
  const { first, isCollapsed } = shownPart(text);
  const echo = isEchoed ? `Write-Host ($__steps_line -f ${quote(`$ ${first}`)})\n` : "";
  const run = `${text}\n${check(program)}`;
  if (!hasSections || !isCollapsed) return `${echo}${run}`;
  const name = `script_step_${at}`;
  return `${section("start", `${name}[hide_duration=true,collapsed=true]`)}${echo}${run}${section("end", name)}`;
}

// The runner looks after every command, as PowerShell goes on after a program that fails.
function check({ failureWarning }: ScriptProgram): string {
  const code = "$__steps_code = if ($LASTEXITCODE) { $LASTEXITCODE } else { 1 }";
  const warning = failureWarning === "" ? "" : `${warningOf(failureWarning, "$__steps_code").trim()}; `;
  return `if (-not $?) { ${code}; ${warning}exit $__steps_code }\n`;
}

function warningOf(text: string, code = "1"): string {
  return `[Console]::Error.WriteLine('WARNING: {0}: exit code {1}' -f ${quote(text)}, ${code})\n`;
}

function section(word: "start" | "end", name: string): string {
  const time = "[DateTimeOffset]::UtcNow.ToUnixTimeSeconds()";
  const format = quote(`{0}[0Ksection_${word}:{1}:${name}{2}{0}[0K`);
  const flag = word === "start" ? " -NoNewline" : "";
  return `Write-Host${flag} (${format} -f [char]27, ${time}, "\`r")\n`;
}

/** The text as one word of PowerShell. */
function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018\u2019\u201a\u201b]/g, (mark) => mark + mark)}'`;
}
