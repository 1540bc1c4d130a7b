import type { YamlNode } from "@steps/source";
import { createObject, NAME_PATTERN, quote } from "@steps/model";
import type { CiFile } from "../ci-file.ts";
import type { EffectiveJob } from "../effective-job.ts";
import { expandVariables, type RawVariable } from "./expand-variables.ts";
import { readVariables } from "./read-variables.ts";
import type { CiReport } from "../ci-rules.ts";

export interface JobVariables {
  readonly values: Readonly<Record<string, string>>;
  /** The node of each variable that the file declares. */
  readonly nodes: ReadonlyMap<string, YamlNode>;
}

export interface GivenVariables {
  readonly predefined: Readonly<Record<string, string>>;
  readonly overrides: Readonly<Record<string, string>>;
}

/** The variables of a job, lowest first: predefined, of the file, of the job, given by the user; then expanded. */
export function readJobVariables(
  { file, job }: { readonly file: CiFile; readonly job: EffectiveJob },
  given: GivenVariables,
  report: CiReport,
): JobVariables {
  const globals = readVariables(file.root.entries.get("variables")?.value, "global", report);
  const own = readVariables(job.own.get("variables")?.value, "job", report);
  const declared = new Map([...[...globals].filter(([name]) => job.inheritsVariable(name)), ...own]);
  const nodes = new Map([...declared].map(([name, { node }]) => [name, node]));
  const raw = new Map<string, RawVariable>();
  // Variables that the caller gives are data: a commit message with a dollar must arrive unchanged.
  for (const [name, value] of Object.entries(given.predefined)) raw.set(name, { value, isRaw: true });
  for (const [name, variable] of declared) raw.set(name, variable);
  for (const [name, value] of Object.entries(given.overrides)) {
    if (isGivenName(name, value, report)) raw.set(name, { value, isRaw: declared.get(name)?.isRaw ?? false });
  }
  return { values: expand(raw, nodes, report), nodes };
}

function isGivenName(name: string, value: string, report: CiReport): boolean {
  if (!NAME_PATTERN.test(name)) {
    report.error(undefined, {
      code: "invalid-name",
      message: `${quote(name)} cannot be the name of a variable`,
      hint: "Use letters, digits and underscores; do not begin with a digit.",
    });
    return false;
  }
  if (value.includes("\0")) {
    report.error(undefined, { code: "invalid-variables", message: `The value of "${name}" holds a NUL character` });
    return false;
  }
  return true;
}

function expand(
  raw: ReadonlyMap<string, RawVariable>,
  nodes: ReadonlyMap<string, YamlNode>,
  report: CiReport,
): Readonly<Record<string, string>> {
  const { values, cycles, isTooLong } = expandVariables(raw);
  for (const name of cycles) {
    report.warn(nodes.get(name), {
      code: "variable-cycle",
      message: `The variable ${quote(name)} refers to itself: the reference is left as it stands`,
    });
  }
  if (isTooLong) {
    report.error(undefined, { code: "invalid-variables", message: "The variables are too long once expanded" });
    return createObject();
  }
  return values;
}
