/** A workflow command as a line spells it. */
export interface WorkflowCommand {
  /** The name in lower case. */
  readonly name: string;
  /** The properties by their names in lower case. The last value of a repeated property counts; empty values are left out. */
  readonly properties: ReadonlyMap<string, string>;
  readonly data: string;
  /** The text of the line before a command of the older form; empty when it is only blanks. */
  readonly prefix: string;
}

/** A command with more blanks before it is not one. */
export const MAX_INDENT = 1024;

/**
 * The command in a line, or nothing when it has none whose name `isKnown`.
 *
 * `::name key=value,key=value::data`, with nothing but blanks before it; or, anywhere in the line and with the first
 * `##[` only, `##[name key=value;key=value]data`. Escapes are undone once, so that `%250A` is the text `%0A`.
 */
export function parseCommand(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  return parseCurrentForm(line, isKnown) ?? parseOlderForm(line, isKnown);
}

function parseCurrentForm(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const start = indentOf(line);
  if (start > MAX_INDENT || !line.startsWith("::", start)) return undefined;
  const end = line.indexOf("::", start + 2);
  if (end < 0) return undefined;
  const [name, properties] = splitName(line.slice(start + 2, end));
  if (!isKnown(name)) return undefined;
  const pairs = parseProperties(properties.trim().split(","), unescapeProperty);
  return { name, properties: pairs, data: unescapeData(line.slice(end + 2)), prefix: "" };
}

function parseOlderForm(line: string, isKnown: (name: string) => boolean): WorkflowCommand | undefined {
  const start = line.indexOf("##[");
  const end = start < 0 ? -1 : line.indexOf("]", start);
  if (end < 0) return undefined;
  const [name, properties] = splitName(line.slice(start + 3, end));
  if (!isKnown(name)) return undefined;
  const pairs = parseProperties(properties.split(";"), unescapeOlder);
  const prefix = start <= MAX_INDENT && indentOf(line) === start ? "" : line.slice(0, start);
  return { name, properties: pairs, data: unescapeOlder(line.slice(end + 1)), prefix };
}

function indentOf(line: string): number {
  return /^[ \t\v\f]*/.exec(line)?.[0].length ?? 0;
}

function splitName(info: string): readonly [string, string] {
  const blank = info.indexOf(" ");
  return blank < 0 ? [info.toLowerCase(), ""] : [info.slice(0, blank).toLowerCase(), info.slice(blank + 1)];
}

function parseProperties(parts: readonly string[], unescape: (text: string) => string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const part of parts) {
    const [, name, value] = /^=*([^=]+)=+([^=][^]*)$/.exec(part) ?? [];
    if (name !== undefined && value !== undefined) properties.set(name.toLowerCase(), unescape(value));
  }
  return properties;
}

// No result of one escape is part of another, but the percent sign's: one pass is the same as undoing that one last.
function unescapeData(text: string): string {
  return text.replaceAll(/%(?:0D|0A|25)/g, unescapeOne);
}

function unescapeProperty(text: string): string {
  return text.replaceAll(/%(?:0D|0A|3A|2C|25)/g, unescapeOne);
}

function unescapeOlder(text: string): string {
  return text.replaceAll(/%(?:3B|0D|0A|5D|25)/g, unescapeOne);
}

function unescapeOne(escape: string): string {
  return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
}
