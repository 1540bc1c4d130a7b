import type { YamlNode } from "@steps/source";
import type { GithubInvocation, StepInvocation } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { isNull } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { readTexts } from "../reading/read-texts.ts";
import { conditionOf, templateOf, type TextPlace } from "../reading/templates.ts";
import { literalOf } from "../reading/texts.ts";
import type { RawStep } from "./compile-steps.ts";
import { stepPlace } from "./step-keys.ts";

const ID = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const MAX_ID_LENGTH = 99;

/** Reads the keys that steps with `run` and steps with `uses` have in common. */
export function readCommon(
  reading: Reading,
  step: RawStep,
  ids: Map<string, number>,
): Pick<StepInvocation, "name" | "env" | "github"> {
  const { index, keys } = step;
  const env = readTexts(reading, keys.get("env")?.value, {
    what: `"env" of step ${index + 1}`,
    at: stepPlace(reading, "env"),
    pointer: ["definition", "steps", index, "env"],
    isEnv: true,
  });
  return { name: readId(reading, step, ids), env, github: readGithub(reading, step) };
}

function readGithub(reading: Reading, { index, keys }: RawStep): GithubInvocation {
  const github: { -readonly [Key in keyof GithubInvocation]: GithubInvocation[Key] } = {};
  const read = (key: keyof typeof PARTS, readText: (node: YamlNode, place: TextPlace) => string | undefined): void => {
    const node = keys.get(key)?.value;
    if (node === undefined) return;
    const text = readText(node, { what: `"${key}" of step ${index + 1}`, at: stepPlace(reading, key) });
    if (text !== undefined) github[PARTS[key]] = text;
    placeAt(reading, ["definition", "steps", index, "github", PARTS[key]], node);
  };
  read("name", (node, place) => templateOf(reading, node, place));
  read("if", (node, place) => conditionOf(reading, node, place));
  read("continue-on-error", (node, place) => truthOf(reading, node, place));
  read("timeout-minutes", (node, place) => minutesOf(reading, node, place));
  return github;
}

const PARTS = {
  name: "title",
  if: "if",
  "continue-on-error": "continueOnError",
  "timeout-minutes": "timeoutMinutes",
} as const;

/** `true`, `false`, or an expression. */
function truthOf(reading: Reading, node: YamlNode, place: TextPlace): string | undefined {
  const text = templateOf(reading, node, place);
  return checked(reading, node, text, { what: place.what, takes: "true or false", pattern: /^(?:true|false)$/ });
}

/** A number of minutes, or an expression. */
export function minutesOf(reading: Reading, node: YamlNode, place: TextPlace): string | undefined {
  const text = templateOf(reading, node, place);
  const pattern = /^\d+(?:\.\d+)?$/;
  return checked(reading, node, text, { what: place.what, takes: "a number of minutes", pattern });
}

function checked(
  reading: Reading,
  node: YamlNode,
  text: string | undefined,
  { what, takes, pattern }: { readonly what: string; readonly takes: string; readonly pattern: RegExp },
): string | undefined {
  if (text === undefined || text.includes("${{") || pattern.test(text)) return text;
  const found = isNull(node) ? "nothing" : quote(text);
  reading.report.error(node, { code: "invalid-value", message: `${what} takes ${takes}, found ${found}` });
  return undefined;
}

function readId(reading: Reading, { index, keys }: RawStep, ids: Map<string, number>): string {
  const node = keys.get("id")?.value;
  if (node === undefined) return "";
  const id = literalOf(reading, node, `"id" of step ${index + 1}`);
  if (id === undefined) return "";
  placeAt(reading, ["definition", "steps", index, "name"], node);
  if (!ID.test(id) || id.length > MAX_ID_LENGTH || id.startsWith("__")) {
    const message = `The id of step ${index + 1} is malformed: ${quote(id)}`;
    const hint =
      'Ids hold letters, digits, "_" and "-", begin with a letter or one "_", and have at most 99 characters.';
    reading.report.error(node, { code: "invalid-name", message, hint });
    return "";
  }
  const before = ids.get(id.toLowerCase());
  if (before === undefined) ids.set(id.toLowerCase(), index);
  else {
    const message = `Two steps have the id ${quote(id)}`;
    reading.report.error(node, { code: "duplicate-name", message, hint: `The first one is step ${before + 1}.` });
  }
  return id;
}
