import { Report, type YamlMapping, type YamlNode } from "@steps/source";
import { createObject } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { toCiText, toCiValue } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { collectVariables, plainVariables, type Variable, type VariableSources } from "./collect-variables.ts";
import { expandVariables, type RawVariable } from "./expand-variables.ts";
import { type DeclaredVariable, readVariables, type VariableReport } from "./read-variables.ts";
import type { CiReport } from "../ci-rules.ts";

export interface JobVariables {
  readonly values: Readonly<Record<string, string>>;
  /** The node of each variable that the file declares. */
  readonly nodes: ReadonlyMap<string, YamlNode>;
}

export interface GivenVariables {
  /** Variables of every source but the files. */
  readonly sources: VariableSources;
  /** Predefined variables that win over those of the sources. */
  readonly predefined: Readonly<Record<string, string>>;
  /** Variables that the user gave with the pipeline. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** The variables that a configuration declares at its top and in a job. */
export interface FileVariables {
  readonly global: ReadonlyMap<string, DeclaredVariable>;
  readonly job: ReadonlyMap<string, DeclaredVariable>;
  /** Those of a combination of a matrix. */
  readonly matrix: ReadonlyMap<string, DeclaredVariable>;
}

/** Reads the variables that a job takes from the top of its configuration, its own, and those of its instance. */
export function readFileVariables(root: YamlMapping, job: LoadedJob): FileVariables {
  // The loader reported what is wrong with them.
  const reported: VariableReport = new Report();
  const globals = readVariables(root.entries.get("variables")?.value, "global", reported);
  const matrix = [...(job.instance?.variables ?? [])].map(([name, node]): [string, DeclaredVariable] => {
    return [name, { value: toCiText(toCiValue(node), node), isRaw: false, node }];
  });
  return {
    global: new Map([...globals].filter(([name]) => job.inheritsVariable(name))),
    job: readVariables(job.own.get("variables")?.value, "job", reported),
    matrix: new Map(matrix),
  };
}

/** Puts the variables of a job together, from all sources in their order, and expands them. */
export function readJobVariables(
  { root, job }: { readonly root: YamlMapping; readonly job: LoadedJob },
  given: GivenVariables,
  report: CiReport,
): JobVariables {
  const { global, job: own, matrix } = readFileVariables(root, job);
  const declared = new Map<string, Variable>([
    ...global,
    ...(given.sources.workflow ?? []),
    ...own,
    ...matrix,
    ...(given.sources.rule ?? []),
  ]);
  const pipeline = new Map(given.sources.pipeline);
  for (const [name, value] of Object.entries(given.overrides)) {
    if (isGivenName(name, value, report)) pipeline.set(name, { value, isRaw: declared.get(name)?.isRaw ?? false });
  }
  const collected = collectVariables({
    ...given.sources,
    // Variables that the caller gives are data: a commit message with a dollar must arrive unchanged.
    predefined: new Map([
      ...(given.sources.predefined ?? []),
      ...plainVariables(given.predefined),
      ...plainVariables(instanceVariables(job)),
    ]),
    global,
    job: own,
    matrix,
    pipeline,
  });
  const nodes = new Map<string, YamlNode>();
  for (const [name, { node }] of declared) if (node !== undefined) nodes.set(name, node);
  return { values: expand(collected, nodes, report), nodes };
}

function instanceVariables({ instance }: LoadedJob): Readonly<Record<string, string>> {
  if (instance === undefined) return {};
  return { CI_NODE_INDEX: String(instance.index), CI_NODE_TOTAL: String(instance.total) };
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
