import { dirname, resolve } from "node:path";
import { type Flag, type Flags, type Settings, UsageError } from "@steps/console";
import { formatDiagnostic, nearest, type Source } from "@steps/model/diagnostic";
import { describeNode, readYaml, Report, type YamlNode } from "@steps/source";
import { PROJECT_FLAGS } from "./project-flags.ts";

/** How the settings of a file are read. */
export interface SettingsOptions {
  /** The flags of the command that is called. */
  readonly flags: Flags;
  /** Whether the user named the file. One that was only found may set no flag that could do harm. */
  readonly isTrusted: boolean;
}

/**
 * Reads the settings of a file: flags by their names, with the texts that would be typed. Lists stand for flags that are repeated,
 * mappings for those that take NAME=VALUE; paths start at the folder of the file.
 *
 * @throws {UsageError} with the place of everything that is wrong
 */
export function readSettings(source: Source, options: SettingsOptions): Settings {
  const { documents, diagnostics } = readYaml(source);
  const report = new Report<"unknown-flag" | "flag-not-allowed" | "wrong-type">();
  report.include(diagnostics);
  const settings: Record<string, readonly string[]> = {};
  // One that only another command has is no mistake.
  const known = new Set([...Object.keys(options.flags), ...PROJECT_FLAGS]);
  known.delete("config");
  const [document, second] = documents;
  if (second !== undefined) report.error(second, { code: "wrong-type", message: "There is more than one document" });
  for (const [name, { key, value }] of entriesOf(document, report)) {
    if (!known.has(name)) {
      const near = nearest(name, [...known]);
      const hint = near === undefined ? "Keys are the names of flags, without dashes." : `Did you mean ${near}?`;
      report.error(key, { code: "unknown-flag", message: `There is no flag "${name}"`, hint });
    } else if (!options.isTrusted && !PROJECT_FLAGS.has(name)) {
      report.error(key, {
        code: "flag-not-allowed",
        message: `"${name}" cannot be set by the file of a project, which may come from anybody`,
        hint: "Give it on the command line, or name the file yourself with --config.",
      });
    } else {
      const flag = options.flags[name];
      const texts = textsOf(value, flag?.type);
      if (texts === undefined)
        report.error(value, { code: "wrong-type", message: `"${name}" cannot be ${describeNode(value)}` });
      else if (flag !== undefined)
        settings[name] = flag.type === "path" ? texts.map((text) => placed(source, text)) : texts;
    }
  }
  if (report.hasErrors) throw new UsageError(report.finish().map(formatDiagnostic).join("\n"));
  return settings;
}

function entriesOf(document: YamlNode | undefined, report: Report<"wrong-type">) {
  if (document === undefined || (document.kind === "scalar" && document.value === null)) return [];
  if (document.kind === "mapping") return [...document.entries];
  report.error(document, { code: "wrong-type", message: `A mapping is expected, this is ${describeNode(document)}` });
  return [];
}

function textsOf(node: YamlNode, type: Flag["type"] | undefined): readonly string[] | undefined {
  const isRepeated = type === undefined || type === "list" || type === "pairs" || type === "comma-pairs";
  if (node.kind === "scalar") return node.value === null ? undefined : [node.text];
  if (!isRepeated) return undefined;
  if (node.kind === "list") {
    const texts = node.items.map((item) => (item.kind === "scalar" && item.value !== null ? item.text : undefined));
    return texts.every((text) => text !== undefined) ? texts : undefined;
  }
  const pairs = [...node.entries].map(([name, { value }]) =>
    value.kind === "scalar" ? `${name}=${value.value === null ? "" : value.text}` : undefined,
  );
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

function placed(source: Source, path: string): string {
  return resolve(dirname(source.name), path);
}
