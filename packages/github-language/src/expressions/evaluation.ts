import { messageOf, type Value } from "@steps/model";
import { type Budget, createBudget, spendEffort } from "./budget.ts";
import { Failure } from "./error.ts";
import { type Available, STATUS_FUNCTIONS } from "./names.ts";
import type { Node } from "./node.ts";
import { type Data, foldCase } from "./operators.ts";

/**
 * The contexts that exist where a text stands, by name: a value, or a function that makes it when an expression first
 * names it. One object of contexts is one set: what was made for it once is not made again, so that a new state of things
 * needs a new object. A context that exists and has nothing to say is `null`.
 */
export type Contexts = Readonly<Record<string, Value | (() => Value)>>;

/** How the steps before stand, for `success()`, `failure()` and `cancelled()`. */
export interface StatusFacts {
  readonly isSuccess: boolean;
  readonly isFailure: boolean;
  readonly isCancelled: boolean;
}

/** The contexts, functions and limits with which a text is evaluated. */
export interface EvaluateOptions {
  /**
   * `github`, `env`, `inputs`, `steps`, `runner`, `job`, `strategy`, `matrix`, `needs`, `vars`, `secrets`, `jobs`: those that
   * exist where the text stands. Keys of `env` are sensitive to case, all others are not.
   */
  readonly contexts: Contexts;
  /**
   * The status of the job so far. The functions `success`, `failure`, `always` and `cancelled` exist only if it is
   * given.
   */
  readonly status?: StatusFacts;
  /**
   * Computes the digest of files. The function `hashFiles` exists only if it is given, and passes its arguments as
   * texts.
   */
  readonly hashFiles?: (patterns: readonly string[]) => string;
}

/** The state of one evaluation. */
export interface Evaluation extends EvaluateOptions {
  readonly budget: Budget;
  /** The object that is the context `env`, once it was named: its keys are sensitive to case. */
  env?: Value;
  /** Keys by their folded form, of the objects that were asked for a key they have not as it is written. */
  readonly foldedKeys: Map<object, ReadonlyMap<string, string>>;
  /** Keeps the value of each part for an explanation. Absent when none is wanted. */
  readonly trace?: Map<Node, Data>;
}

export function createEvaluation(options: EvaluateOptions, trace?: Map<Node, Data>): Evaluation {
  const base = { ...options, budget: createBudget(), foldedKeys: new Map<object, ReadonlyMap<string, string>>() };
  return trace === undefined ? base : { ...base, trace };
}

/** Returns the names that exist according to the options. */
export function availableIn(options: EvaluateOptions): Available {
  return {
    hasContext: (name) => keyOfContext(options.contexts, name) !== undefined,
    hasFunction: (name) =>
      STATUS_FUNCTIONS.includes(name) ? options.status !== undefined : options.hashFiles !== undefined,
    contextNames: () => Object.keys(options.contexts),
  };
}

function keyOfContext(contexts: Contexts, name: string): string | undefined {
  if (Object.hasOwn(contexts, name)) return name;
  return Object.keys(contexts).find((key) => key.toLowerCase() === name);
}

const made = new WeakMap<Contexts, Map<string, Value>>();

/** The value of a context by its name in lower case; `null` for what is declared and not supplied. */
export function readContext(evaluation: Evaluation, name: string): Value {
  const { contexts } = evaluation;
  const key = keyOfContext(contexts, name);
  const supplied: Value | (() => Value) | undefined = key === undefined ? undefined : contexts[key];
  const value = typeof supplied === "function" ? makeContext(contexts, name, supplied) : (supplied ?? null);
  if (name === "env") evaluation.env = value;
  return value;
}

function makeContext(contexts: Contexts, name: string, make: () => Value): Value {
  const values = made.get(contexts) ?? new Map<string, Value>();
  made.set(contexts, values);
  const known = values.get(name);
  if (known !== undefined) return known;
  try {
    // A caller without a type checker may return undefined.
    const value = (make() as Value | undefined) ?? null;
    values.set(name, value);
    return value;
  } catch (error) {
    throw new Failure("CONTEXT_FAILED", `Cannot read the context "${name}": ${messageOf(error).slice(0, 300)}`, {
      cause: error,
    });
  }
}

/** The value of a context if it is there without making it. */
export function peekContext(contexts: Contexts, name: string): Value {
  const key = keyOfContext(contexts, name);
  const supplied: Value | (() => Value) | undefined = key === undefined ? undefined : contexts[key];
  return typeof supplied === "function" ? (made.get(contexts)?.get(name) ?? null) : (supplied ?? null);
}

/** Returns the value of an object's own key, in whatever case, or `undefined`. Inherited members do not count. */
export function lookUp(evaluation: Evaluation, object: { [key: string]: Value }, key: string): Value | undefined {
  if (Object.hasOwn(object, key)) return object[key] ?? null;
  if (object === evaluation.env) return undefined;
  const found = foldedKeysOf(evaluation, object).get(foldCase(key, evaluation.budget));
  return found === undefined ? undefined : (object[found] ?? null);
}

function foldedKeysOf(evaluation: Evaluation, object: object): ReadonlyMap<string, string> {
  const known = evaluation.foldedKeys.get(object);
  if (known !== undefined) return known;
  const keys = new Map<string, string>();
  for (const key of Object.keys(object)) {
    spendEffort(evaluation.budget, 1);
    const folded = foldCase(key, evaluation.budget);
    if (!keys.has(folded)) keys.set(folded, key);
  }
  evaluation.foldedKeys.set(object, keys);
  return keys;
}
