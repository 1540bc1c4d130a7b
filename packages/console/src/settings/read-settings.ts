import { dirname, resolve } from "node:path";
import {
  formatDiagnostic,
  formatPosition,
  nearest,
  type Diagnostic,
  printable,
  type Source,
} from "@steps/model/diagnostic";
import { describeNode, readYaml, Report, type YamlNode } from "@steps/source";
import type { Settings } from "../command.ts";
import type { Flag, Flags } from "../flag.ts";
import { UsageError } from "../usage-error.ts";

/** How the settings of a file are read. */
export interface SettingsOptions {
  /** The flags of the command that is called. */
  readonly flags: Flags;
  /** The names of flags that only other commands have, for which the file may be as well. Default: none. */
  readonly others?: ReadonlySet<string>;
  /** The only flags that the file may set, because nobody has looked at it. Default: all. */
  readonly allowed?: ReadonlySet<string>;
  /** The key of the mapping with the settings, in a file that says more, of which nothing is read. Default: the whole file. */
  readonly key?: string;
  /** Lines of the file are not shown, since it may hold secrets. Default: the line of each mistake is shown. */
  readonly isPrivate?: boolean;
}

type Code = "unknown-flag" | "flag-not-allowed" | "wrong-type" | "invalid-value";

/**
 * Reads the settings of a file, YAML or JSON: flags by their names, with the texts that would be typed. Lists stand for flags that are
 * repeated, mappings for those that take NAME=VALUE; paths start at the folder of the file.
 *
 * @throws {UsageError} with the place of everything that is wrong
 */
export function readSettings(source: Source, options: SettingsOptions): Settings {
  const { documents, diagnostics } = readYaml(source);
  const report = new Report<Code>();
  // Whoever reads the rest of the file says what is wrong with its text.
  if (options.key === undefined) report.include(diagnostics);
  else if (diagnostics.some(({ severity }) => severity === "error")) return {};
  const [document, second] = documents;
  if (second !== undefined && options.key === undefined)
    report.error(second, { code: "wrong-type", message: "There is more than one document" });
  const settings = readEntries(partOf(document, options.key), { ...options, source, report });
  if (report.hasErrors)
    throw new UsageError(
      report
        .finish()
        .map(options.isPrivate === true ? briefly : formatDiagnostic)
        .join("\n"),
    );
  return settings;
}

function briefly({ position, message, hint }: Diagnostic): string {
  const place = position === undefined ? "" : `${formatPosition(position)}: `;
  return `${place}${printable(message)}${hint === undefined ? "" : `\n  hint: ${printable(hint)}`}`;
}

function partOf(document: YamlNode | undefined, key: string | undefined): YamlNode | undefined {
  if (key === undefined) return document;
  return document?.kind === "mapping" ? document.entries.get(key)?.value : undefined;
}

interface Reading extends SettingsOptions {
  readonly source: Source;
  readonly report: Report<Code>;
}

function readEntries(part: YamlNode | undefined, reading: Reading): Settings {
  const { flags, others = new Set(), allowed, report } = reading;
  const settings: Record<string, readonly string[]> = {};
  const known = new Set([...Object.keys(flags), ...others]);
  known.delete("config");
  for (const [name, { key, value }] of entriesOf(part, report)) {
    if (!known.has(name)) {
      const near = nearest(name, known);
      const hint = near === undefined ? "Keys are the names of flags, without dashes." : `Did you mean ${near}?`;
      report.error(key, { code: "unknown-flag", message: `There is no flag "${name.slice(0, 80)}"`, hint });
    } else if (allowed?.has(name) === false) {
      report.error(key, {
        code: "flag-not-allowed",
        message: `"${name}" cannot be set by the file of a project, which may come from anybody`,
        hint: "Give it on the command line, or name the file yourself with --config.",
      });
    } else {
      const texts = readValue(name, value, reading);
      if (texts !== undefined) settings[name] = texts;
    }
  }
  return settings;
}

function entriesOf(part: YamlNode | undefined, report: Report<Code>) {
  if (part === undefined || (part.kind === "scalar" && part.value === null)) return [];
  if (part.kind === "mapping") return [...part.entries];
  report.error(part, { code: "wrong-type", message: `A mapping is expected, this is ${describeNode(part)}` });
  return [];
}

/** The texts of a flag, which it takes; `undefined` if something is wrong with them, or the flag is that of another command. */
function readValue(name: string, value: YamlNode, { flags, source, report }: Reading): readonly string[] | undefined {
  const flag = flags[name];
  const texts = textsOf(value, flag?.type);
  if (texts === undefined) {
    report.error(value, { code: "wrong-type", message: `"${name}" cannot be ${describeNode(value)}` });
    return undefined;
  }
  if (flag === undefined) return undefined;
  const placed = flag.type === "path" ? texts.map((text) => resolve(dirname(source.name), text)) : texts;
  try {
    flag.read(placed, name);
    return placed;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    report.error(value, { code: "invalid-value", message: error.message, hint: error.hint });
    return undefined;
  }
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
