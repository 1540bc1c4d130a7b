import { resolve } from "node:path";
import { compileStepFile } from "@steps/compiler";
import { findCallProblems, narrowPosition } from "@steps/executor";
import { findNames, hintNames } from "@steps/expression/names";
import { isStepsError, type Value } from "@steps/model";
import type { Definition, Spec, SpecDefinition, StepInvocation, StepsDefinition } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import { formatReference, type LocalReference, type StepReference } from "@steps/model/reference";
import { decodeSource } from "@steps/model/utf8";
import { escapePointer } from "@steps/model/value";
import { findStepFile } from "../find-step-file.ts";
import { nameOfFile } from "../step-source.ts";
import type { CheckCode, CheckDiagnostic } from "./check-rules.ts";
import { placeOfProblem } from "./place-of-problem.ts";

/** A text of steps, and where the folders are that it names. */
export interface CheckedText {
  readonly specDefinition: SpecDefinition;
  readonly positionOf?: ((pointer: string, part?: "key") => Position | undefined) | undefined;
  /** The absolute folders that local references may be relative to, the likeliest first. */
  readonly dirs: readonly string[];
  /** Whether unknown keys in the files of the steps are passed over. Default: no. */
  readonly isLenient?: boolean | undefined;
  /**
   * When true, the text is about to run: a wrong call is an error only where the run cannot succeed, and a warning elsewhere, since a
   * step before it may change the folder; a step that is not there is left to the run. Default: false, every wrong call is an error.
   */
  readonly isAboutToRun?: boolean | undefined;
}

/**
 * Compares a text with the local steps that it names: the inputs and secrets that it gives them, and the outputs that it reads.
 * Nothing is fetched, and nothing that those steps name is looked at. A step that is not there yet is a warning: a step before it
 * may make it.
 */
export async function checkCalls(text: CheckedText): Promise<readonly CheckDiagnostic[]> {
  const checker = new CallChecker(text);
  await checker.check(text.specDefinition.definition, "/definition");
  return checker.diagnostics;
}

/** The outputs of the steps before an expression by their names; `undefined` where they are not known. */
type KnownOutputs = ReadonlyMap<string, readonly string[] | undefined>;

/** The circumstances of a diagnostic. */
interface Report {
  /** The place of the value that it is about. */
  readonly pointer: string;
  /** `key` when the key of the value is wrong, and not the value. */
  readonly part?: "key" | undefined;
  /** The part of the value, if that is a text of which only a part is wrong. */
  readonly at?: { readonly text: string } & Parameters<typeof narrowPosition>[2];
  /** Default: an error. */
  readonly severity?: CheckDiagnostic["severity"];
  readonly hint?: string | undefined;
}

class CallChecker {
  readonly diagnostics: CheckDiagnostic[] = [];
  readonly #text: CheckedText;
  /** Whether the run may succeed in spite of the call: another step runs before it, it has a condition, or it may fail. */
  #isLate = false;
  readonly #specs = new Map<string, Promise<Spec | undefined>>();

  constructor(text: CheckedText) {
    this.#text = text;
  }

  async check(definition: Definition, pointer: string): Promise<void> {
    if (definition.type === "exec" || definition.github !== undefined) return;
    await this.#checkList(definition, pointer);
  }

  async #checkList({ steps, finally: last = [], outputs }: StepsDefinition, pointer: string): Promise<void> {
    const known = new Map<string, readonly string[] | undefined>();
    const items = [
      ...steps.map((step, at) => [step, `${pointer}/steps/${at}`] as const),
      ...last.map((step, at) => [step, `${pointer}/finally/${at}`] as const),
    ];
    for (const [invocation, at] of items) {
      const { condition, continueOnError = false } = invocation.control ?? {};
      if (condition !== undefined || continueOnError) this.#isLate = true;
      this.#checkTexts(invocation, at, known);
      known.set(invocation.name, outputsOf(await this.#checkCall(invocation, at)));
      this.#isLate = true;
    }
    this.#checkValue(outputs, `${pointer}/outputs`, known);
  }

  /** Gives the spec of the step that is called, if it can be read here. */
  async #checkCall(invocation: StepInvocation, pointer: string): Promise<Spec | undefined> {
    const { step, github } = invocation;
    if (github !== undefined) return undefined;
    if (step.kind === "inline") {
      await this.check(step.specDefinition.definition, `${pointer}/step/specDef/definition`);
      return step.specDefinition.spec;
    }
    const spec = await this.#specOf(step, pointer);
    if (spec === undefined) return undefined;
    for (const problem of await findCallProblems(invocation, spec)) {
      const { kind, message, hint } = problem;
      this.#report(kind, message, { ...placeOfProblem(problem, pointer), hint });
    }
    return spec;
  }

  #specOf(step: StepReference, pointer: string): Promise<Spec | undefined> {
    if (step.kind !== "local") return Promise.resolve(undefined);
    const name = formatReference(step);
    const known = this.#specs.get(name) ?? this.#readSpec(step, pointer);
    this.#specs.set(name, known);
    return known;
  }

  async #readSpec(step: LocalReference, pointer: string): Promise<Spec | undefined> {
    const { dirs, isLenient = false } = this.#text;
    const warn = (message: string): void =>
      this.#report("step-unavailable", message, { pointer: `${pointer}/step`, severity: "warning" });
    let failure: string | undefined;
    for (const dir of dirs) {
      try {
        const found = findStepFile(resolve(dir, step.path), step.file, undefined);
        const name = nameOfFile(found);
        const { specDefinition } = compileStepFile(decodeSource(name, found.content), { isLenient });
        if (specDefinition === undefined) warn(`The step file "${name}" does not compile`);
        return specDefinition?.spec;
      } catch (error) {
        if (!isStepsError(error)) throw error;
        failure ??= error.message;
      }
    }
    if (failure !== undefined) warn(failure);
    return undefined;
  }

  #checkTexts({ step, inputs, env, secrets, control, github }: StepInvocation, at: string, known: KnownOutputs): void {
    if (github !== undefined) return;
    this.#checkValue(control?.condition, `${at}/control/condition`, known);
    this.#checkValue(env, `${at}/env`, known);
    this.#checkValue(inputs, `${at}/inputs`, known);
    this.#checkValue(secrets, `${at}/secrets`, known);
    if (step.kind === "dynamic") this.#checkValue(step.text, `${at}/step`, known);
  }

  #checkValue(value: Value | Readonly<Record<string, string>> | undefined, pointer: string, known: KnownOutputs): void {
    if (typeof value === "string") return this.#checkText(value, pointer, known);
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value))
      this.#checkValue(inner, `${pointer}/${escapePointer(key)}`, known);
  }

  #checkText(text: string, pointer: string, known: KnownOutputs): void {
    if (!text.includes("${{")) return;
    for (const { kind, of, name, rest = [], offset } of findNames(text)) {
      const [member, further] = rest;
      if (kind !== "member" || of !== "steps" || member?.name !== "outputs" || further === undefined) continue;
      const { name: output, length } = further;
      const outputs = known.get(name);
      if (outputs === undefined || outputs.includes(output)) continue;
      const message = `The step ${JSON.stringify(name)} has no output ${JSON.stringify(output.slice(0, 80))}`;
      const at = { text, offset, length, expression: text.slice(offset, offset + length) };
      this.#report("unknown-output", message, { pointer, at, hint: hintNames(output, outputs, "outputs of the step") });
    }
  }

  #report(code: CheckCode, message: string, { pointer, part, at, severity, hint }: Report): void {
    const { positionOf, isAboutToRun = false } = this.#text;
    if (isAboutToRun && code === "step-unavailable") return;
    const found = positionOf?.(pointer, part);
    const position = found && at ? narrowPosition(found, at.text, at) : found;
    const usual = isAboutToRun && this.#isLate ? "warning" : "error";
    this.diagnostics.push({ severity: severity ?? usual, code, message, position, hint });
  }
}

function outputsOf(spec: Spec | undefined): readonly string[] | undefined {
  if (spec === undefined || spec.outputs === "delegate" || spec.hasOpenOutputs === true) return undefined;
  return Object.keys(spec.outputs);
}
