import { argumentError, ExpressionError, type FunctionTable } from "@steps/expression";
import { reveal, type RuntimeValue, type Value } from "@steps/model";
import type { InputSpec, SpecDefinition } from "@steps/model/definition";
import { posixProgram, type ScriptProgram } from "../script/posix-program.ts";
import { pwshProgram } from "../script/pwsh-program.ts";
import { defaultShell } from "./script-step.ts";

const SHELLS = ["auto", "bash", "sh", "pwsh", "powershell"];

/**
 * `builtin://gitlab/script`: commands of a `script:` of GitLab, run by one shell, which is the only process. The text of its program
 * and the words before it are made of its inputs by functions that its definition alone may call.
 */
export const gitlabScriptStep: SpecDefinition = {
  spec: {
    description: "Runs commands in one shell, as GitLab's runner does",
    inputs: {
      script: { type: "array", isSensitive: false, description: "The commands; each is shown before it runs" },
      shell: {
        type: "string",
        isSensitive: false,
        default: "auto",
        options: SHELLS,
        description: "The shell; auto is the first bash, else sh",
      },
      login: flag("Start the shell as a login shell"),
      echo: { ...flag("Show each command before it runs"), default: true },
      debug_trace: flag("Print each command as it is run, expanded"),
      check_for_errors: flag("Look at the status after each command too"),
      trace_sections: flag("Commands of several lines are sections of the log that can be folded"),
      step_runner: flag("Make /step-runner a command where there is no such file"),
      failure_warning: {
        type: "string",
        isSensitive: false,
        default: "",
        description: "Printed with the exit code when a command fails",
      },
    },
    outputs: {},
    hasOpenOutputs: true,
  },
  definition: {
    type: "exec",
    command: [
      "${{ shell_word(0, inputs.shell, inputs.login) }}",
      "${{ shell_word(1, inputs.shell, inputs.login) }}",
      "${{ shell_word(2, inputs.shell, inputs.login) }}",
      "${{ shell_word(3, inputs.shell, inputs.login) }}",
      "${{ shell_program(inputs) }}",
    ],
    env: {
      // Scripts of the job pass values on by this file; its folder is the job's own, and goes with it.
      GITLAB_ENV: "${{ step_dir }}/gitlab_runner_env",
      STEP_OUTPUT_FILE: "${{ output_file }}",
      STEP_EXPORT_FILE: "${{ export_file }}",
    },
  },
};

/** The functions that the definition of `gitlab/script` calls. */
export const shellFunctions: FunctionTable = {
  shell_word: { minArgs: 3, maxArgs: 3, call: ([at, shell, login]) => wordsOf(shell, login)[Number(at)] ?? "" },
  shell_program: { minArgs: 1, maxArgs: 1, call: ([inputs]) => programOf(reveal(inputs as RuntimeValue)) },
};

// As many for every shell, since a command has a fixed number of words.
function wordsOf(shell: RuntimeValue | undefined, login: RuntimeValue | undefined): readonly string[] {
  if (isPwsh(shell)) return [shell, login === true ? "-NoLogo" : "-NoProfile", "-NonInteractive", "-Command"];
  const program = typeof shell === "string" && shell !== "auto" ? shell : defaultShell();
  return [program, login === true ? "-lo" : "-o", "errexit", "-c"];
}

function isPwsh(shell: RuntimeValue | undefined): shell is string {
  return shell === "pwsh" || shell === "powershell";
}

function programOf(inputs: Value): string {
  if (typeof inputs !== "object" || inputs === null || Array.isArray(inputs)) {
    throw argumentError(inputs, 0, "an object");
  }
  const { script } = inputs;
  const commands = Array.isArray(script) ? script.map(commandOf) : [];
  if (commands.length === 0) throw new ExpressionError("INVALID_ARGUMENT", "The script has no commands");
  const program: ScriptProgram = {
    commands,
    isEchoed: inputs["echo"] === true,
    isTraced: inputs["debug_trace"] === true,
    checksErrors: inputs["check_for_errors"] === true,
    hasSections: inputs["trace_sections"] === true,
    needsStepRunner: inputs["step_runner"] === true,
    failureWarning: typeof inputs["failure_warning"] === "string" ? inputs["failure_warning"] : "",
  };
  return isPwsh(inputs["shell"]) ? pwshProgram(program) : posixProgram(program);
}

function commandOf(command: Value): string {
  if (typeof command === "string") return command;
  throw new ExpressionError("INVALID_ARGUMENT", "A command of the script is not a string");
}

function flag(description: string): InputSpec {
  return { type: "boolean", isSensitive: false, default: false, description };
}
