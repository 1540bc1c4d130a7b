import { realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { type CallProblem, findCallProblems, type LoadedStep } from "@steps/executor";
import { findActionProblems } from "@steps/github-runner/action-problems";
import { isStepsError, messageOf } from "@steps/model";
import type { SpecDefinition, StepInvocation } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import { formatReference, type StepReference } from "@steps/model/reference";
import { escapePointer } from "@steps/model/value";
import { CompileError, type LoadDiagnostic } from "../engine-error.ts";
import type { StepLoader } from "../load-step.ts";
import type { CheckCode, CheckDiagnostic } from "./check-rules.ts";
import type { CheckedStep } from "./checked-step.ts";
import { placeOfProblem } from "./place-of-problem.ts";

/** The compiled definition that a tree of steps starts with. */
export interface CheckRoot {
  /** The name of the definition as the user gave it. */
  readonly name: string;
  readonly specDefinition: SpecDefinition;
  readonly positionOf?: ((pointer: string, part?: "key") => Position | undefined) | undefined;
  /** The absolute path of the directory that its local references are relative to. */
  readonly baseDir: string;
  /** The absolute path of its step file, so that a step that names it again is a cycle. Absent for a definition without one. */
  readonly file?: string;
}

/** A tree that starts with a step to be loaded; nobody calls it, so its inputs are not checked. */
export interface CheckReference {
  readonly reference: StepReference;
  /** The absolute path of the directory that a local reference is relative to. */
  readonly baseDir: string;
}

/** Everything that is there of a tree of steps, and all that is wrong with it. */
export interface CheckedTree {
  readonly root: CheckedStep;
  readonly diagnostics: readonly (CheckDiagnostic | LoadDiagnostic)[];
}

/** The number of steps of one tree that are checked. */
const MAX_STEPS = 10_000;
/** The depth of a tree, the same as in a run: steps that call steps deeper than this call themselves. */
const MAX_DEPTH = 100;

/** A definition on the way from the root to the step that is being checked. */
interface Place {
  /** The path that is compared to find a step that names itself; `undefined` for a definition without a file. */
  readonly key: string | undefined;
  readonly name: string;
  readonly isConditional: boolean;
  readonly parent: Place | undefined;
  readonly depth: number;
}

interface Site extends Pick<LoadedStep, "dir" | "root"> {
  readonly place: Place;
  readonly path: string;
  readonly positionOf: ((pointer: string, part?: "key") => Position | undefined) | undefined;
  /** The JSON pointer of the definition in the text that `positionOf` knows. */
  readonly pointer: string;
}

/** Follows every reference of a tree that is no expression, compiles what it names, and checks each call of it. */
export class StepChecker {
  readonly #loader: StepLoader;
  readonly #signal: AbortSignal;
  readonly #diagnostics: CheckDiagnostic[] = [];
  /** The path in the tree at which each step file was seen first. */
  readonly #seen = new Map<string, string>();
  #steps = 0;

  constructor(loader: StepLoader, signal: AbortSignal) {
    this.#loader = loader;
    this.#signal = signal;
  }

  async check({ name, specDefinition, positionOf, baseDir, file }: CheckRoot): Promise<CheckedTree> {
    const key = file === undefined ? undefined : realpathSync(file);
    const place = { key, name, isConditional: false, parent: undefined, depth: 0 };
    if (key !== undefined) this.#seen.set(key, "");
    const site: Site = { dir: baseDir, root: undefined, place, path: "", positionOf, pointer: "" };
    const steps = await this.#checkDefinition(specDefinition, site);
    const root: CheckedStep = { path: "", name: "", reference: name, state: "compiled", specDefinition, steps };
    return { root, diagnostics: this.#diagnostics };
  }

  /** @throws {StepsError} when the step itself cannot be loaded */
  async checkReference({ reference, baseDir }: CheckReference): Promise<CheckedTree> {
    const options = { signal: this.#signal, path: "", env: {}, inputNames: [] };
    const loaded = await this.#loader.load(reference, { dir: baseDir, root: undefined }, options);
    const { specDefinition, component, subpath, definitionDigest, dir, root, positionOf } = loaded;
    const name = formatReference(reference);
    const place = { key: keyOf(loaded), name, isConditional: false, parent: undefined, depth: 0 };
    if (place.key !== undefined) this.#seen.set(place.key, "");
    const steps = await this.#checkDefinition(specDefinition, { dir, root, place, path: "", positionOf, pointer: "" });
    const known = { path: "", name: "", reference: name, state: "compiled", definitionDigest, specDefinition } as const;
    const origin = { component, ...(subpath === "" ? {} : { subpath }) };
    return { root: { ...known, ...origin, steps }, diagnostics: this.#diagnostics };
  }

  async #checkDefinition({ definition }: SpecDefinition, site: Site): Promise<readonly CheckedStep[]> {
    if (definition.type === "exec") return [];
    const { steps, finally: last = [] } = definition;
    const items = [
      ...steps.map((step, i) => [step, `${site.pointer}/definition/steps/${i}`] as const),
      ...last.map((step, i) => [step, `${site.pointer}/definition/finally/${i}`] as const),
    ];
    const checked: CheckedStep[] = [];
    for (const [i, [invocation, pointer]] of items.entries()) {
      this.#signal.throwIfAborted();
      this.#steps += 1;
      if (this.#steps > MAX_STEPS) {
        if (this.#steps === MAX_STEPS + 1)
          this.#report("too-many-steps", `More than ${MAX_STEPS} steps are not looked at`, { site, pointer });
        break;
      }
      const path = site.path === "" ? String(i) : `${site.path}/${i}`;
      checked.push(await this.#checkInvocation(invocation, { ...site, path, pointer }));
    }
    return checked;
  }

  async #checkInvocation(invocation: StepInvocation, site: Site): Promise<CheckedStep> {
    const { step, name } = invocation;
    const reference = formatReference(step);
    const common = { path: site.path, name, reference, steps: [] };
    if (step.kind === "dynamic") return { ...common, state: "dynamic" };
    const isConditional = invocation.control?.condition !== undefined;
    if (step.kind === "inline") {
      const { specDefinition } = step;
      const place = { ...site.place, isConditional: site.place.isConditional || isConditional };
      const pointer = `${site.pointer}/step/specDef`;
      const steps = await this.#checkDefinition(specDefinition, { ...site, place, pointer });
      return { ...common, state: "compiled", specDefinition, steps };
    }
    const loaded = await this.#load(step, invocation, { site, isConditional });
    if (loaded === undefined) return { ...common, state: "unavailable" };
    return this.#checkLoaded(loaded, invocation, { ...site, common, isConditional });
  }

  async #checkLoaded(
    loaded: LoadedStep,
    invocation: StepInvocation,
    site: Site & { readonly common: Omit<CheckedStep, "state">; readonly isConditional: boolean },
  ): Promise<CheckedStep> {
    const { common, isConditional, ...at } = site;
    const { specDefinition, component, subpath, definitionDigest, dir, root, positionOf } = loaded;
    const { step } = invocation;
    const { github } = specDefinition.definition;
    if (github !== undefined && step.kind === "action") this.#checkAction(invocation, specDefinition, at);
    else for (const problem of await findCallProblems(invocation, specDefinition.spec)) this.#reportCall(problem, at);
    const known = {
      ...common,
      ...(component === undefined ? {} : { component }),
      ...(subpath === "" ? {} : { subpath }),
      definitionDigest,
    };
    const key = keyOf(loaded);
    const place = { key, name: common.reference, isConditional, parent: at.place, depth: at.place.depth + 1 };
    const chain = chainOf(place);
    if (chain !== undefined) {
      const severity = chain.isConditional ? "warning" : "error";
      const message = `The step names itself: ${chain.names.join(" → ")}`;
      this.#report("reference-cycle", message, { site: at, pointer: `${at.pointer}/step`, severity });
      return { ...known, state: "cycle" };
    }
    const first = key === undefined ? undefined : this.#seen.get(key);
    if (first !== undefined) return { ...known, state: "repeated", sameAs: first };
    if (key !== undefined) this.#seen.set(key, at.path);
    const inner: Site = { dir, root, place, path: at.path, positionOf, pointer: "" };
    const steps = place.depth > MAX_DEPTH ? [] : await this.#checkDefinition(specDefinition, inner);
    return { ...known, state: "compiled", specDefinition, steps };
  }

  async #load(
    step: StepReference,
    { inputs }: StepInvocation,
    { site, isConditional }: { readonly site: Site; readonly isConditional: boolean },
  ): Promise<LoadedStep | undefined> {
    const { dir, root, path } = site;
    try {
      const options = { signal: this.#signal, path, env: {}, inputNames: Object.keys(inputs) };
      return await this.#loader.load(step, { dir, root }, options);
    } catch (error) {
      this.#signal.throwIfAborted();
      if (!isStepsError(error)) throw error;
      // A step that may never be asked for may be missing, too; one that does not compile has diagnostics of its own.
      const isMissing = !(error instanceof CompileError);
      const severity = isConditional && isMissing ? "warning" : "error";
      const hint = error.hint === undefined ? {} : { hint: error.hint };
      this.#report("step-unavailable", messageOf(error), { site, pointer: `${site.pointer}/step`, severity, ...hint });
      return undefined;
    }
  }

  // An action refuses nothing that it is given.
  #checkAction({ inputs }: StepInvocation, { spec, definition }: SpecDefinition, site: Site): void {
    for (const { message, name, hint } of findActionProblems(Object.keys(inputs), spec, definition.github)) {
      const inner = name === undefined ? "/step" : `/inputs/${escapePointer(name)}`;
      this.#report("action-input", message, {
        site,
        pointer: `${site.pointer}${inner}`,
        severity: "warning",
        hint,
      });
    }
  }

  #reportCall(problem: CallProblem, site: Site): void {
    const { kind, message, hint } = problem;
    this.#report(kind, message, { site, ...placeOfProblem(problem, site.pointer), hint });
  }

  #report(
    code: CheckCode,
    message: string,
    at: {
      readonly site: Site;
      readonly pointer: string;
      readonly part?: "key" | undefined;
      readonly severity?: CheckDiagnostic["severity"];
      readonly hint?: string | undefined;
    },
  ): void {
    const { site, pointer, part, severity = "error", hint } = at;
    const position = site.positionOf?.(pointer, part);
    this.#diagnostics.push({
      severity,
      code,
      message,
      position,
      hint,
    });
  }
}

/** The step file, whatever links lead to it; a built-in step has none. */
function keyOf({ dir, subpath, component, bring }: LoadedStep): string | undefined {
  if (subpath === "") return undefined;
  // Its files are not there before it runs.
  if (bring !== undefined) return `${component?.digest["gitTree"] ?? dir} ${subpath}`;
  return realpathSync(join(dir, basename(subpath)));
}

/** The names of the steps from the first time that a step was met to this time; `undefined` if it is the first. */
function chainOf(place: Place): { readonly names: readonly string[]; readonly isConditional: boolean } | undefined {
  if (place.key === undefined) return undefined;
  const names: string[] = [place.name];
  let isConditional = place.isConditional;
  for (let at = place.parent; at !== undefined; at = at.parent) {
    names.unshift(at.name);
    if (at.key === place.key) return { names, isConditional };
    isConditional ||= at.isConditional;
  }
  return undefined;
}
