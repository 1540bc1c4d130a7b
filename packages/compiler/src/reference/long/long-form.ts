import type { ReferenceProblem, StepReference } from "@steps/model/reference";
import { pathProblem } from "@steps/model/kinds";
import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import type { DescribedTable, Key } from "@steps/source/keys";
import { asString, asText, type CompileContext } from "../../context.ts";
import { STRING } from "../../keys/shapes.ts";
import { refuseExpression } from "../../texts/check-name.ts";
import { checkTemplateNode } from "../../texts/check-template.ts";

/** The long form of one kind of reference: a mapping under the kind's name. */
export interface LongForm {
  /** A sentence for editors. */
  readonly about: string;
  readonly keys: DescribedTable;
  /** Reads the mapping, whose keys are checked already; what is wrong is reported. */
  readonly read: (context: CompileContext, node: YamlMapping) => StepReference | undefined;
}

/** A place in a component. */
export interface Place {
  readonly dir: string;
  readonly file?: string;
}

/** A place behind a URL. */
export interface Parts extends Place {
  readonly url: string;
}

/** The keys of every long form that name a place in a component. */
export const PLACE_KEYS: { readonly dir: Key; readonly file: Key } = {
  dir: { about: "The folder of the step, from the root of the component. No expressions.", shape: STRING },
  file: {
    about: "The step file, if it is none of `func.yml`, `func.yaml`, `step.yml`, `step.yaml`. No expressions.",
    shape: { type: "string", pattern: "^[^/]+$" },
  },
};

/** Reports what `@steps/model` says of a reference. */
export function reportProblem(context: CompileContext, node: YamlNode, { message, hint }: ReferenceProblem): void {
  context.report.error(node, { code: "invalid-reference", message, hint });
}

/** The long form of a computed URL is its short form, which is read once the expressions are expanded. */
export function dynamicUrl(
  context: CompileContext,
  node: YamlMapping,
  { parts, prefix, suffix }: { parts: Parts; prefix: string; suffix: string },
): StepReference {
  checkTemplateNode(context, childOf(node, "url") as YamlNode);
  checkDynamicFile(context, node, parts.file);
  const inner = innerPath(parts);
  return { kind: "dynamic", text: `${prefix}${parts.url}${inner === "" ? "" : `//${inner}`}${suffix}` };
}

/** A short form tells a file by its end alone. */
export function checkDynamicFile(context: CompileContext, node: YamlMapping, file: string | undefined): void {
  if (file === undefined || /\.ya?ml$/i.test(file)) return;
  const others = node.entries.has("url") ? "in url" : "in the name of the image";
  reportProblem(context, childOf(node, "file") ?? node, {
    message: `With an expression ${others} the file must end in .yml or .yaml: "${file}"`,
  });
}

/** The folder and the file as one path; empty if neither is named. */
export function innerPath({ dir, file }: Place): string {
  return [dir, file ?? ""].filter((part) => part !== "").join("/");
}

/** Reads `url`, `dir` and `file`. */
export function readParts(context: CompileContext, node: YamlMapping): Parts | undefined {
  const url = requireText(context, node, "url", true);
  const place = readPlace(context, node);
  return url === undefined ? undefined : { url: url.trim(), ...place };
}

/** Reads `dir` and `file`. */
export function readPlace(context: CompileContext, node: YamlMapping): Place {
  const dirNode = childOf(node, "dir");
  const fileNode = childOf(node, "file");
  const dir = dirNode === undefined ? "" : readLiteral(context, dirNode, "dir");
  const file = fileNode === undefined ? undefined : readLiteral(context, fileNode, "file");
  const problem = pathProblem(dir ?? "", file);
  if (problem !== undefined) reportProblem(context, (problem.isFile ? fileNode : dirNode) ?? node, problem);
  const segments = (dir ?? "").split("/").filter((part) => part !== "" && part !== ".");
  return { dir: segments.join("/"), file };
}

function readLiteral(context: CompileContext, node: YamlNode, key: string): string | undefined {
  const text = asString(context, node, key);
  if (text !== undefined && node.kind === "scalar") refuseExpression(context, node, `${key} of a reference`);
  return text;
}

/** Reads the text of a key that must be there; `isTemplate` allows expressions in it. */
export function requireText(
  context: CompileContext,
  node: YamlMapping,
  key: string,
  isTemplate = false,
): string | undefined {
  const child = childOf(node, key);
  if (child === undefined) {
    context.report.error(node, { code: "missing-key", message: `The reference has no ${key}` });
    return undefined;
  }
  // A revision such as 1.0 is a number to YAML.
  const text = asText(context, child, key);
  if (text !== undefined && !isTemplate && child.kind === "scalar") {
    if (refuseExpression(context, child, `${key} of a reference`)) return undefined;
  }
  if (text?.trim() === "") {
    context.report.error(child, { code: "invalid-reference", message: `The reference has an empty ${key}` });
    return undefined;
  }
  return text;
}
