import { type RuntimeString, Sensitive } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import { isReferenceProblem, parseReference, type StepReference } from "@steps/model/reference";
import { digestOf } from "@steps/platform";
import { ExecuteError } from "../outcome/execute-error.ts";
import type { Expander } from "../values/expander.ts";
import type { Level } from "../run/level.ts";
import type { OpenedStep } from "../run/opened-step.ts";
import type { Run } from "../run/run.ts";
import { parseWithCredentials } from "../values/secret-reference.ts";

/** A reference that names something: expands a dynamic one. @throws {ExecuteError} REFERENCE_INVALID, EXPRESSION_FAILED */
export function resolveReference(reference: StepReference, expander: Expander, pointer: string): StepReference {
  if (reference.kind !== "dynamic") return reference;
  // A missing part would make it name another step.
  const place = { what: "reference", pointer, needsVariables: true };
  const text = expander.text(reference.text, place);
  if (text instanceof Sensitive) {
    const withCredentials = parseWithCredentials(reference.text, expander, place);
    if (withCredentials) return withCredentials;
    throw new ExecuteError("REFERENCE_INVALID", "reference: it is made of a sensitive value", {
      hint: "Only the user and the password of a URL may be: https://USER:PASSWORD@HOST/...",
    });
  }
  const parsed = parseReference(text);
  if (isReferenceProblem(parsed)) {
    throw new ExecuteError("REFERENCE_INVALID", `reference: ${parsed.message}`, { hint: parsed.hint });
  }
  if (parsed.kind === "dynamic") throw new ExecuteError("REFERENCE_INVALID", "reference: it expands to an expression");
  return parsed;
}

/** Brings what a resolved reference names: from in place, or by the loader. */
export async function openReference(
  run: Run,
  reference: StepReference,
  options: {
    readonly caller: Pick<Level, "dir" | "root" | "environment" | "source">;
    readonly path: string;
    readonly pointer: string;
    readonly inputNames: readonly string[];
    readonly knownInputs?: Readonly<Record<string, string>>;
    /** The variables that the invocation adds to the caller's environment. */
    readonly env: Readonly<Record<string, RuntimeString>>;
  },
): Promise<OpenedStep> {
  const { caller, path, pointer, inputNames, knownInputs = {} } = options;
  if (reference.kind === "inline") {
    const { specDefinition } = reference;
    const source = { ...caller.source, pointer: `${caller.source.pointer}${pointer}/specDef` };
    return { ...inPlace(specDefinition, caller), reference, source };
  }
  const from = { dir: caller.dir, root: caller.root };
  const env = caller.environment.with(options.env).flatten();
  const { signal } = run;
  const { positionOf, ...loaded } = await run.hooks.loadStep(reference, from, {
    signal,
    path,
    env,
    inputNames,
    knownInputs,
  });
  return { ...loaded, reference, source: { pointer: "", positionOf } };
}

/** A definition without a component of its own. */
export function inPlace(
  specDefinition: SpecDefinition,
  at: { readonly dir: string; readonly root: string | undefined },
): Omit<OpenedStep, "reference" | "source"> {
  const definitionDigest = digestInPlace(specDefinition);
  return {
    specDefinition,
    definitionDigest,
    dir: at.dir,
    root: at.root,
    component: undefined,
    fetch: undefined,
    subpath: "",
  };
}

const digests = new WeakMap<SpecDefinition, string>();

// The digest is that of the encoded form, which a replay has too and which holds no credentials.
function digestInPlace(specDefinition: SpecDefinition): string {
  const known = digests.get(specDefinition);
  if (known !== undefined) return known;
  const digest = digestOf(encodeSpecDefinition(specDefinition));
  digests.set(specDefinition, digest);
  return digest;
}

/** Whether a reference names a built-in step that runs a text in a shell. */
export function isScript(reference: StepReference | undefined): boolean {
  return reference?.kind === "dist" && ["script", "gitlab/script"].includes(reference.path);
}
