import { createObject } from "@steps/model";
import type { ExecDefinition, GithubPart } from "@steps/model/definition";
import { placeAt, type Reading } from "../reading/reading.ts";
import { conditionOf } from "../reading/templates.ts";
import { pathOf } from "./read-path.ts";
import type { Runs } from "./read-runs.ts";

/** The definition of a JavaScript action. */
export function compileNode(reading: Reading, runs: Runs): ExecDefinition | undefined {
  const { using, keys, node } = runs;
  const mainNode = keys.get("main");
  if (mainNode === undefined) {
    reading.report.error(node, { code: "missing-key", message: `"runs" has no "main", the file that node runs` });
    return undefined;
  }
  const main = pathOf(reading, mainNode, `"main"`);
  placeAt(reading, ["definition", "exec"], mainNode);
  const phases = readPhases(reading, runs, (name) => {
    const value = keys.get(name);
    return value === undefined ? undefined : pathOf(reading, value, `"${name}"`);
  });
  if (main === undefined) return undefined;
  return { type: "exec", command: [using, main], env: createObject(), github: { using, ...phases } };
}

type Phases = Pick<GithubPart, "pre" | "preIf" | "post" | "postIf">;

/** Reads the phases that run before and after all steps of the job. */
export function readPhases(reading: Reading, { keys, kind }: Runs, read: (key: string) => string | undefined): Phases {
  const suffix = kind === "docker" ? "-entrypoint" : "";
  const phases: { -readonly [Key in keyof Phases]: Phases[Key] } = {};
  for (const phase of ["pre", "post"] as const) {
    const name = `${phase}${suffix}`;
    const text = read(name);
    if (text !== undefined) phases[phase] = text;
    placeAt(reading, ["definition", "github", phase], keys.get(name));
    const condition = keys.get(`${phase}-if`);
    if (condition === undefined) continue;
    const found = conditionOf(reading, condition, { what: `"${phase}-if"`, at: `${phase}-if` });
    if (found !== undefined) phases[`${phase}If`] = found;
    placeAt(reading, ["definition", "github", `${phase}If`], condition);
  }
  return phases;
}
