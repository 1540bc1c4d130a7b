import type { YamlNode } from "@steps/source";
import { REFERENCE_TAG } from "./reference-tag.ts";
import { readPsychScalar } from "./psych.ts";
import type { CiReport } from "./ci-rules.ts";

/** GitLab's own limit for lists in lists. */
const MAX_DEPTH = 10;

const MAX_COMMANDS = 10_000;

/** Characters of all commands together. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Reads the commands of `script`, `before_script` or `after_script`: a text, or a list of texts in which nested lists are
 * flattened. Any other value is reported.
 */
export function readCommands(keyword: string, node: YamlNode | undefined, report: CiReport): readonly string[] {
  if (node === undefined || isNothing(node)) return [];
  const state: State = { keyword, report, commands: [], length: 0, isTooLong: false };
  collect(node, 0, state);
  return state.commands;
}

/** Whether a value is there but says nothing: `script:` with nothing behind it. */
export function isNothing(node: YamlNode): boolean {
  return node.kind === "scalar" && node.tag === undefined && readPsychScalar(node).kind === "null";
}

interface State {
  readonly keyword: string;
  readonly report: CiReport;
  readonly commands: string[];
  length: number;
  isTooLong: boolean;
}

function collect(node: YamlNode, depth: number, state: State): void {
  if (state.isTooLong) return;
  const { keyword, report } = state;
  // The loader reported a reference that leads nowhere.
  if (node.tag === REFERENCE_TAG) return;
  if (node.kind === "list") {
    if (depth > MAX_DEPTH) {
      report.error(node, { code: "invalid-script", message: `"${keyword}" has lists nested deeper than ${MAX_DEPTH}` });
      return;
    }
    for (const item of node.items) collect(item, depth + 1, state);
  } else if (node.kind === "scalar" && readPsychScalar(node).kind === "string") {
    addCommand(node, node.text, state);
  } else {
    const what = node.kind === "mapping" ? "a mapping" : `a value of type ${readPsychScalar(node).kind}`;
    const hint =
      node.kind === "mapping" ? "Quote the whole command: it holds a colon followed by a blank." : "Quote the command.";
    report.error(node, { code: "invalid-script", message: `"${keyword}" holds ${what}, not a command`, hint });
  }
}

function addCommand(node: YamlNode, command: string, state: State): void {
  state.length += command.length;
  if (state.commands.length >= MAX_COMMANDS || state.length > MAX_LENGTH) {
    state.isTooLong = true;
    state.report.error(node, {
      code: "invalid-script",
      message: `"${state.keyword}" is longer than ${MAX_COMMANDS} commands or ${MAX_LENGTH} characters`,
    });
  } else if (command.includes("\0")) {
    state.report.error(node, { code: "invalid-script", message: "A command holds a NUL character" });
  } else {
    state.commands.push(command);
  }
}
