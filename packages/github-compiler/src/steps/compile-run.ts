import type { YamlNode } from "@steps/source";
import { parseShell } from "@steps/github-language";
import { createObject, messageOf } from "@steps/model";
import { emptySpec, type ExecDefinition, type StepInvocation } from "@steps/model/definition";
import { placeAt, type Reading } from "../reading/reading.ts";
import { templateOf, type TextPlace } from "../reading/templates.ts";
import { literalOf } from "../reading/texts.ts";
import type { RawStep } from "./compile-steps.ts";
import { stepPlace } from "./step-keys.ts";

/** The values of `defaults.run`, in GitHub's language. */
export interface RunDefaults {
  readonly shell?: string;
  readonly workDir?: string;
}

/** The shell of a step that names none: bash where there is one, sh otherwise. */
const DEFAULT_SHELL = "{0}";

/** A step with `run`. */
export function compileRun(
  reading: Reading,
  step: RawStep,
  defaults: RunDefaults,
): Pick<StepInvocation, "step" | "inputs"> | undefined {
  const { index, keys } = step;
  const runNode = keys.get("run")?.value;
  if (runNode === undefined) return undefined;
  const script = templateOf(reading, runNode, { what: `"run" of step ${index + 1}`, at: stepPlace(reading, "run") });
  if (script?.trim() === "") {
    reading.report.warn(runNode, { code: "empty-script", message: `"run" of step ${index + 1} is empty` });
  }
  const shell = readShell(reading, step, defaults);
  const dirNode = keys.get("working-directory")?.value;
  const dirPlace = { what: `"working-directory" of step ${index + 1}`, at: stepPlace(reading, "working-directory") };
  const ownDir = dirNode === undefined ? undefined : templateOf(reading, dirNode, dirPlace);
  const workDir = ownDir || defaults.workDir;
  if (script === undefined || shell === undefined) return undefined;
  const pointer = ["definition", "steps", index, "step", "specDef", "definition"];
  placeAt(reading, [...pointer, "github", "script"], runNode);
  placeAt(reading, [...pointer, "exec", "workDir"], dirNode);
  placeAt(reading, [...pointer, "exec", "command"], keys.get("shell")?.value);
  const definition: ExecDefinition = {
    type: "exec",
    command: [shell],
    workDir,
    env: createObject(),
    github: { using: "run", script },
  };
  const specDefinition = { spec: { ...emptySpec, hasOpenOutputs: true }, definition };
  return { step: { kind: "inline", seesCallerInputs: true, specDefinition }, inputs: createObject() };
}

function readShell(reading: Reading, { index, node, keys }: RawStep, defaults: RunDefaults): string | undefined {
  const isComposite = reading.file === "action";
  const shellNode = keys.get("shell")?.value;
  if (shellNode === undefined) {
    if (!isComposite) return defaults.shell ?? DEFAULT_SHELL;
    const hint = "Steps of a composite action name their shell: write shell: bash.";
    reading.report.error(node, { code: "missing-key", message: `Step ${index + 1} has no "shell"`, hint });
    return undefined;
  }
  const what = `"shell" of step ${index + 1}`;
  // At a job's steps GitHub takes no expression; under `defaults` it does.
  return isComposite
    ? shellOf(reading, shellNode, { what, at: "composite-step-shell" })
    : checkShell(reading, shellNode, literalOf(reading, shellNode, what));
}

/** A shell that may be an expression. */
export function shellOf(reading: Reading, node: YamlNode, place: TextPlace): string | undefined {
  const shell = templateOf(reading, node, place);
  if (shell?.trim() !== "") return checkShell(reading, node, shell);
  reading.report.error(node, { code: "missing-key", message: `${place.what} is empty` });
  return undefined;
}

// The runner complains only when the step runs, so in somebody else's action it may be a step that never does.
function checkShell(reading: Reading, node: YamlNode, shell: string | undefined): string | undefined {
  if (shell === undefined || shell.includes("${{")) return shell;
  try {
    parseShell(shell, { hasBash: true, platform: "linux" });
  } catch (error) {
    const severity = reading.file === "action" ? "warning" : "error";
    reading.report.add(severity, node, { code: "invalid-value", message: messageOf(error) });
  }
  return shell;
}
