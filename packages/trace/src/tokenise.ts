import { mapObject } from "@steps/model";
import type { Places } from "@steps/model/event";
import type { ValJson } from "@steps/proto";
import { mapMembers } from "./fast-record.ts";
import type { Vals } from "./journal-event.ts";

/** Replaces absolute places by their names, so that two runs in different directories can be equal. */
export interface Tokeniser {
  text(text: string): string;
  vals(vals: Vals): Record<string, ValJson>;
}

/** The places of a step, the folder of the workspace that the job ran in, and its stores by the names of the inputs. */
export interface TokenPlaces extends Places {
  readonly workspace?: string | undefined;
  readonly stores?: Readonly<Record<string, string>> | undefined;
}

type JsonValue = Exclude<ValJson["value"], undefined>;

const NAMES = [
  ["workDir", "{{work_dir}}"],
  ["stepDir", "{{step_dir}}"],
  ["outputFile", "{{output_file}}"],
  ["exportFile", "{{export_file}}"],
  ["jobTmp", "{{job_tmp}}"],
  ["workspace", "{{workspace}}"],
] as const satisfies readonly (readonly [Exclude<keyof TokenPlaces, "stores">, string])[];

const MAX_DEPTH = 100;

/** The name that stands for the folder which an input gives. */
export function storeToken(input: string): string {
  return `{{${input}}}`;
}

/** A tokeniser for the places of one step; longer places are replaced first. */
export function createTokeniser(places: TokenPlaces): Tokeniser {
  const stores = Object.entries(places.stores ?? {}).map(([name, path]) => [path, storeToken(name)] as const);
  const named = [...NAMES.map(([key, name]) => [places[key], name] as const), ...stores];
  const tokens = named
    .flatMap(([place, name]) => {
      const path = place?.replace(/\/+$/, "");
      return path === undefined || path === "" ? [] : [{ path, name }];
    })
    .toSorted((a, b) => b.path.length - a.path.length);

  const common = commonStart(tokens.map(({ path }) => path));
  const text = (value: string): string => {
    if (!value.includes(common)) return value;
    let result = value;
    for (const { path, name } of tokens) if (result.includes(path)) result = replacePath(result, path, name);
    return result;
  };
  const json = (value: JsonValue, depth: number): JsonValue => {
    if (typeof value === "string") return text(value);
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return value.map((item) => json(item, depth + 1));
    return mapObject(value as Record<string, JsonValue>, (item) => json(item, depth + 1));
  };
  const val = (value: ValJson): ValJson => {
    if (value.value !== undefined) {
      const tokenised = json(value.value, 0);
      return tokenised === value.value ? value : { value: tokenised };
    }
    const masked = value.redacted?.masked;
    return masked === undefined ? value : { redacted: { ...value.redacted, masked: json(masked, 0) } };
  };
  return { text, vals: (vals) => mapMembers(vals, val) };
}

function replacePath(text: string, path: string, name: string): string {
  let result = "";
  let from = 0;
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + path.length)) {
    if (isNameCharacter(text, at - 1) || isNameCharacter(text, at + path.length)) continue;
    result += text.slice(from, at) + name;
    from = at + path.length;
  }
  return result + text.slice(from);
}

/** Tells whether a character usually belongs to a file name: `/work` does not occur in `/work2` or `/a/work`. */
function isNameCharacter(text: string, at: number): boolean {
  const code = at < 0 || at >= text.length ? 0 : text.charCodeAt(at);
  if (code > 127) return true;
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return isLetter || (code >= 48 && code <= 57) || code === 45 || code === 46 || code === 95;
}

// One search for it spares most texts the searches for each place.
function commonStart(paths: readonly string[]): string {
  const [first = ""] = paths;
  let length = first.length;
  for (const path of paths) while (!path.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
