import type { CompilerDiagnostic } from "../diagnostic-rules.ts";
import { isReferenceProblem, parseReference, type StepReference } from "@steps/model/reference";
import { childOf, describeNode, type YamlNode } from "@steps/source";
import { checkTemplateNode } from "../texts/check-template.ts";
import { asMapping, checkKeys, type CompileContext, type CompileOptions, createContext } from "../context.ts";
import { type LongForm, reportProblem } from "./long/long-form.ts";
import { LONG_FORMS, REFERENCE_KEYS } from "./long/long-forms.ts";

/** The result of `compileReference()`: the reference, with everything that is wrong with it. */
export interface CompiledReference {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly reference: StepReference | undefined;
  readonly diagnostics: readonly CompilerDiagnostic[];
}

/** Compiles a reference: the short form as a string, or `{git: …}`, `{zip: …}`, `{oci: …}`. */
export function compileReference(node: YamlNode, options: CompileOptions = {}): CompiledReference {
  const context = createContext(options);
  const reference = readReference(context, node);
  const { report } = context;
  return { reference: report.hasErrors ? undefined : reference, diagnostics: report.finish() };
}

/** The reference of an invocation in either form; what is wrong is reported. */
export function readReference(context: CompileContext, node: YamlNode): StepReference | undefined {
  if (node.kind === "scalar" && typeof node.value === "string") return readShort(context, node.value, node);
  if (node.kind !== "mapping") {
    context.report.error(node, {
      code: "wrong-type",
      message: `A reference must be a string or a mapping, found ${describeNode(node)}`,
    });
    return undefined;
  }
  checkKeys(context, node, REFERENCE_KEYS);
  const kinds = REFERENCE_KEYS.known.filter((kind) => node.entries.has(kind));
  if (kinds.length !== 1) {
    context.report.error(node, {
      code: kinds.length === 0 ? "missing-key" : "conflicting-keys",
      message: `A reference takes one of ${listed(REFERENCE_KEYS.known)}, found ${kinds.length === 0 ? "none" : kinds.join(" and ")}`,
    });
    return undefined;
  }
  const kind = kinds[0] as string;
  const expanded = asMapping(context, childOf(node, kind) as YamlNode, kind);
  if (expanded === undefined) return undefined;
  const { keys, read } = LONG_FORMS[kind] as LongForm;
  checkKeys(context, expanded, keys);
  return read(context, expanded);
}

function readShort(context: CompileContext, text: string, node: YamlNode): StepReference | undefined {
  checkTemplateNode(context, node);
  const parsed = parseReference(text);
  if (!isReferenceProblem(parsed)) return parsed;
  reportProblem(context, node, parsed);
  return undefined;
}

function listed(words: readonly string[]): string {
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
