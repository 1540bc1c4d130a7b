import { createScope, ExpressionError, parseTemplate } from "@steps/expression";
import { createObject, revealString, type Value } from "@steps/model";
import type { InputSpec } from "@steps/model/definition";
import { quote } from "@steps/model/diagnostic";
import { Report, type YamlEntry, type YamlNode, type YamlScalar } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import { readJobInputs } from "../compile/job-inputs.ts";
import { splitAtInputs } from "../compile/job-text.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { madeText, stringOf, withEntries } from "../load/nodes.ts";

/** The values of a job's inputs: those that are given, as texts, and the defaults of the others. */
function valuesOf(
  specs: Readonly<Record<string, InputSpec>>,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, Value>> {
  const values = Object.entries(specs).flatMap(([name, spec]): [string, Value][] => {
    const text = Object.hasOwn(given, name) ? given[name] : undefined;
    const value = text === undefined ? spec.default : typed(text, spec);
    return value === undefined ? [] : [[name, value]];
  });
  return createObject(values);
}

// Whether a text is right for its type is said when the job begins.
function typed(text: string, { type }: InputSpec): Value {
  if (type === "number" && text.trim() !== "" && !Number.isNaN(Number(text))) return Number(text);
  return type === "boolean" && /^(?:true|false)$/.test(text) ? text === "true" : text;
}

/**
 * Gives a function that fills in what names inputs of a job (`${{ job.inputs.x }}`) in the value of a keyword, which may hold
 * variables afterwards, as on GitLab. What cannot be filled in is reported.
 */
export function inputFiller(
  job: LoadedJob,
  given: Readonly<Record<string, string>>,
  report: CiReport,
): (node: YamlNode) => YamlNode {
  const specs = readJobInputs(job, new Report());
  if (Object.keys(specs).length === 0) return (node) => node;
  const scope = createScope({ job: { inputs: valuesOf(specs, given) } });
  const fillText = (node: YamlScalar): YamlNode => {
    const text = node.text.includes("${{") ? stringOf(node) : undefined;
    if (text === undefined) return node;
    const parts = splitAtInputs(text);
    if (parts.length === 1) return node;
    try {
      const filled = parts.map((part, index) =>
        index % 2 === 0 ? part : revealString(parseTemplate(part).evaluateText(scope)),
      );
      return madeText(filled.join(""), node);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const names = Object.keys(specs).map(quote).join(", ");
      report.error(node, {
        code: "invalid-image",
        message: `${quote(text)} cannot be filled in: ${error.message}`,
        hint: `The inputs of the job are ${names}.`,
      });
      return node;
    }
  };
  const fill = (node: YamlNode): YamlNode => {
    if (node.kind === "scalar") return fillText(node);
    if (node.kind === "list") return { ...node, items: node.items.map(fill) };
    const entries = [...node.entries].map(([name, { key, value }]): [string, YamlEntry] => [
      name,
      { key, value: fill(value) },
    ]);
    return withEntries(node, new Map(entries));
  };
  return fill;
}
