import { messageOf } from "@steps/model";
import { ProblemMatcherError } from "./command-error.ts";
import { compileLinePattern, type LinePattern } from "./line-pattern.ts";

/** The fields that a group of a pattern may fill. */
export const MATCHED_FIELDS = ["file", "line", "column", "severity", "code", "message", "fromPath"] as const;

export type MatchedField = (typeof MATCHED_FIELDS)[number];

/** One line of a problem. */
interface MatcherPattern {
  readonly pattern: LinePattern;
  /** The number of the group that holds the field; 0 is the whole match. */
  readonly fields: Readonly<Partial<Record<MatchedField, number>>>;
  readonly isLoop: boolean;
}

/** A problem matcher as its file describes it. */
export interface MatcherConfig {
  readonly owner: string;
  /** The default severity; empty when the file names none. */
  readonly severity: string;
  readonly patterns: readonly MatcherPattern[];
}

const MAX_JSON_LENGTH = 1024 * 1024;
const MAX_MATCHERS = 50;
const MAX_PATTERNS = 10;

/**
 * Reads a file of problem matchers: `{"problemMatcher": [{owner, severity?, pattern: [{regexp, file, line, …, loop}]}]}`.
 *
 * @throws ProblemMatcherError
 */
export function parseMatchers(json: string): readonly MatcherConfig[] {
  const list = recordOf(parseJson(json), "The file").problemMatcher ?? [];
  if (!Array.isArray(list)) throw new ProblemMatcherError('"problemMatcher" is not a list');
  if (list.length > MAX_MATCHERS)
    throw new ProblemMatcherError(`The file has more than ${MAX_MATCHERS} problem matchers`);
  const matchers = list.map((item: unknown, index) => parseMatcher(item, index));
  const owners = new Set<string>();
  for (const { owner } of matchers) {
    if (owners.has(owner.toLowerCase()))
      throw new ProblemMatcherError(`Two problem matchers are of the owner "${owner}"`);
    owners.add(owner.toLowerCase());
  }
  return matchers;
}

function parseJson(json: string): unknown {
  if (json.length > MAX_JSON_LENGTH) throw new ProblemMatcherError("The file is larger than 1 MiB");
  try {
    return JSON.parse(json.startsWith("\uFEFF") ? json.slice(1) : json);
  } catch (error) {
    throw new ProblemMatcherError(`The file is not JSON: ${messageOf(error)}`);
  }
}

function parseMatcher(value: unknown, index: number): MatcherConfig {
  const item = recordOf(value, `Problem matcher ${index + 1}`);
  const owner = item.owner;
  if (typeof owner !== "string" || owner === "") {
    throw new ProblemMatcherError(`Problem matcher ${index + 1} has no owner`);
  }
  const where = `The problem matcher "${owner}"`;
  const severity = item.severity ?? "";
  if (typeof severity !== "string" || !/^(?:error|warning|notice)?$/i.test(severity)) {
    throw new ProblemMatcherError(`${where} has an unknown severity: ${JSON.stringify(severity)}`);
  }
  const listed: readonly unknown[] = Array.isArray(item.pattern) ? item.pattern : [item.pattern];
  if (item.pattern === undefined || listed.length === 0) throw new ProblemMatcherError(`${where} has no pattern`);
  if (listed.length > MAX_PATTERNS) throw new ProblemMatcherError(`${where} has more than ${MAX_PATTERNS} patterns`);
  const patterns = listed.map((entry, at) =>
    parsePattern(entry, `Pattern ${at + 1} of the problem matcher "${owner}"`),
  );
  checkTogether(patterns, where);
  return { owner, severity: severity.toLowerCase(), patterns };
}

function parsePattern(value: unknown, where: string): MatcherPattern {
  const item = recordOf(value, where);
  const regexp = item.regexp ?? "";
  if (typeof regexp !== "string") throw new ProblemMatcherError(`${where} has a regexp that is not a text`);
  const pattern = compilePattern(regexp, where);
  const fields: Partial<Record<MatchedField, number>> = {};
  for (const field of MATCHED_FIELDS) {
    const given = item[field];
    if (given === undefined || given === null) continue;
    const group = typeof given === "string" && /^\d{1,3}$/.test(given) ? Number(given) : given;
    if (typeof group !== "number" || !Number.isInteger(group) || group < 0 || group > pattern.groups) {
      throw new ProblemMatcherError(`${where} has no group ${JSON.stringify(given)} for "${field}"`);
    }
    fields[field] = group;
  }
  return { pattern, fields, isLoop: item.loop === true };
}

function compilePattern(regexp: string, where: string): LinePattern {
  try {
    return compileLinePattern(regexp);
  } catch (error) {
    const hint = "Patterns run in linear time: no back-references, no look-behind, no groups that set flags.";
    throw new ProblemMatcherError(`${where} cannot be used, it ${messageOf(error)}`, hint);
  }
}

function checkTogether(patterns: readonly MatcherPattern[], where: string): void {
  for (const field of MATCHED_FIELDS) {
    const count = patterns.filter(({ fields }) => fields[field] !== undefined).length;
    if (count > 1) throw new ProblemMatcherError(`${where} sets "${field}" twice`);
    if (count === 0 && field === "message") throw new ProblemMatcherError(`${where} sets no "message"`);
  }
  for (const [index, { isLoop, fields }] of patterns.entries()) {
    if (!isLoop) continue;
    if (index === 0 || index < patterns.length - 1) {
      throw new ProblemMatcherError(`${where} has a "loop" elsewhere than in the last of several patterns`);
    }
    if (fields.message === undefined) throw new ProblemMatcherError(`${where} has a "loop" that sets no "message"`);
  }
}

function recordOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ProblemMatcherError(`${where} is not an object`);
  }
  return value as Readonly<Record<string, unknown>>;
}
