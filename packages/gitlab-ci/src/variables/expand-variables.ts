import { createObject } from "@steps/model";

/** A variable as it was declared. */
export interface RawVariable {
  readonly value: string;
  /** `expand: false`: the value is taken as it stands, also where another variable refers to it. */
  readonly isRaw: boolean;
  /** The variable of the same name that this one hides: `PATHS: $PATHS:more` refers to it. Absent when there is none. */
  readonly below?: RawVariable | undefined;
}

/** The result of `expandVariables()`. */
export interface ExpandedVariables {
  readonly values: Readonly<Record<string, string>>;
  /** Variables that refer to themselves, directly or through others. */
  readonly cycles: readonly string[];
  /** The values together would be longer than is allowed; the rest is missing. */
  readonly isTooLong: boolean;
}

/** Characters of all values together. */
const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * Expands `$NAME`, `${NAME}` and `%NAME%` in each value, a variable after those that it refers to. The rules are those of GitLab
 * and its runner together: `$$` is a dollar; a name that is no variable becomes empty, or stays for `%NAME%`; a variable that
 * refers to itself means the one that it hides; references that make a cycle stay as they are. Unlike there, `${{ }}` stays
 * too, so that steps can be written in a variable.
 */
export function expandVariables(variables: ReadonlyMap<string, RawVariable>): ExpandedVariables {
  const { order, cycles } = sortByReference(variables);
  const values = createObject<string>();
  let length = 0;
  for (const name of order) {
    let below: string | undefined;
    for (const { value, isRaw } of layersOf(variables.get(name))) {
      const own = below;
      const lookUp = (reference: string): string | undefined => {
        if (reference === name && own !== undefined) return own;
        if (!variables.has(reference)) return "";
        return cycles.has(name) && cycles.has(reference) ? undefined : values[reference];
      };
      const room = MAX_LENGTH - length;
      const text = isRaw ? value : expandText(value, { lookUp, isKnown: (key) => variables.has(key), maxLength: room });
      if (text === undefined || text.length > room) return { values, cycles: [...cycles], isTooLong: true };
      below = text;
      length += text.length;
    }
    values[name] = below ?? "";
  }
  return { values, cycles: [...cycles], isTooLong: false };
}

/** A variable and those that it hides, the lowest first. */
function layersOf(variable: RawVariable | undefined): readonly RawVariable[] {
  const layers: RawVariable[] = [];
  for (let layer = variable; layer !== undefined; layer = layer.below) layers.unshift(layer);
  return layers;
}

interface ExpandOptions {
  /** `undefined`: leave the reference as it stands. */
  readonly lookUp: (name: string) => string | undefined;
  readonly isKnown: (name: string) => boolean;
  readonly maxLength: number;
}

function expandText(text: string, { lookUp, isKnown, maxLength }: ExpandOptions): string | undefined {
  const parts: string[] = [];
  let length = 0;
  for (const token of scan(text)) {
    const isLeft = token.name === undefined || (token.isPercent && !isKnown(token.name));
    const part = isLeft ? token.text : (lookUp(token.name) ?? token.source);
    parts.push(part);
    length += part.length;
    if (length > maxLength) return undefined;
  }
  return parts.join("");
}

interface Token {
  /** The source text. */
  readonly source: string;
  /** The text that it becomes if it is no reference. */
  readonly text: string;
  /** The variable it refers to. */
  readonly name?: string;
  readonly isPercent: boolean;
}

const REFERENCE = /\$\{\{|\$\{|\$[*#$@!?\-0-9]|\$([A-Za-z_][A-Za-z0-9_]*)|%([A-Za-z_][A-Za-z0-9_]*)%/g;

function* scan(text: string): Generator<Token> {
  const pattern = new RegExp(REFERENCE);
  // Without this bound a text of unclosed braces would be searched to its end again and again.
  const last = { brace: text.lastIndexOf("}"), braces: text.lastIndexOf("}}") };
  let at = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (match.index > at) yield plain(text.slice(at, match.index));
    const token = readToken(text, match, last);
    yield token;
    at = match.index + token.source.length;
    pattern.lastIndex = at;
  }
  if (at < text.length) yield plain(text.slice(at));
}

function readToken(text: string, match: RegExpExecArray, last: { brace: number; braces: number }): Token {
  const [source, dollarName, percentName] = match;
  const name = dollarName ?? percentName;
  if (name !== undefined) return { source, text: source, name, isPercent: percentName !== undefined };
  if (source === "$$") return { source, text: "$", isPercent: false };
  // The runner drops what only a shell knows, and braces that nothing closes.
  if (source !== "${{" && source !== "${") return { source, text: "", isPercent: false };
  if (source === "${{") {
    const close = match.index < last.braces ? text.indexOf("}}", match.index) : -1;
    return plain(close === -1 ? source : text.slice(match.index, close + 2));
  }
  const end = match.index < last.brace ? text.indexOf("}", match.index) : -1;
  if (end === -1) return { source, text: "", isPercent: false };
  return {
    source: text.slice(match.index, end + 1),
    text: "",
    name: text.slice(match.index + 2, end),
    isPercent: false,
  };
}

function plain(text: string): Token {
  return { source: text, text, isPercent: false };
}

/** Sorts variables so that each comes after those that it refers to. */
function sortByReference(variables: ReadonlyMap<string, RawVariable>): {
  readonly order: readonly string[];
  readonly cycles: ReadonlySet<string>;
} {
  const references = new Map([...variables.keys()].map((name) => [name, referencesOf(name, variables)]));
  const referrers = invert(references);
  const first = peel([...variables.keys()], { waitsFor: references, frees: referrers });
  const done = new Set(first);
  const rest = [...variables.keys()].filter((name) => !done.has(name));
  const within = (edges: ReadonlyMap<string, ReadonlySet<string>>): Map<string, ReadonlySet<string>> =>
    new Map(rest.map((name) => [name, new Set([...(edges.get(name) ?? [])].filter((other) => !done.has(other)))]));
  // The remaining variables are in a cycle, between two, or after one. One that nothing refers to is after one.
  const last = peel(rest, { waitsFor: within(referrers), frees: within(references) });
  const after = new Set(last);
  const cycles = new Set(rest.filter((name) => !after.has(name)));
  return { order: [...first, ...cycles, ...last.toReversed()], cycles };
}

function peel(
  names: readonly string[],
  edges: {
    readonly waitsFor: ReadonlyMap<string, ReadonlySet<string>>;
    readonly frees: ReadonlyMap<string, ReadonlySet<string>>;
  },
): readonly string[] {
  const waiting = new Map(names.map((name) => [name, edges.waitsFor.get(name)?.size ?? 0]));
  const free = names.filter((name) => waiting.get(name) === 0);
  for (let i = 0; i < free.length; i++) {
    for (const other of edges.frees.get(free[i] as string) ?? []) {
      const count = (waiting.get(other) ?? 0) - 1;
      waiting.set(other, count);
      if (count === 0) free.push(other);
    }
  }
  return free;
}

function referencesOf(name: string, variables: ReadonlyMap<string, RawVariable>): Set<string> {
  const names = new Set<string>();
  for (const [index, { value, isRaw }] of layersOf(variables.get(name)).entries()) {
    if (isRaw) continue;
    for (const { name: reference } of scan(value)) {
      // A reference to itself means the layer below; only the lowest has none.
      const isToLayerBelow = reference === name && index > 0;
      if (reference !== undefined && variables.has(reference) && !isToLayerBelow) names.add(reference);
    }
  }
  return names;
}

function invert(edges: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Set<string>> {
  const inverted = new Map([...edges.keys()].map((name) => [name, new Set<string>()]));
  for (const [name, others] of edges) for (const other of others) inverted.get(other)?.add(name);
  return inverted;
}
