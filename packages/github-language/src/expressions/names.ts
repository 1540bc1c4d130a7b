import { nearest } from "@steps/model/diagnostic";
import { clip, Failure } from "./error.ts";
import type { CallNode, ContextNode } from "./node.ts";
import type { Expression } from "./parse-expression.ts";

/** The contexts of GitHub's language, wherever they exist. */
export const CONTEXT_NAMES: readonly string[] = [
  "github",
  "env",
  "inputs",
  "steps",
  "runner",
  "job",
  "strategy",
  "matrix",
  "needs",
  "vars",
  "secrets",
  "jobs",
];

/** The functions that say how things stand: `success()` and its kin. They exist in conditions only. */
export const STATUS_FUNCTIONS: readonly string[] = ["success", "failure", "always", "cancelled"];

/** How many arguments a function takes. */
interface Arity {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

// 255 is what the runner takes in a call of `format` and `hashFiles`.
const ARITIES: ReadonlyMap<string, Arity> = new Map(
  (
    [
      ["case", 3, Number.MAX_SAFE_INTEGER],
      ["contains", 2, 2],
      ["endsWith", 2, 2],
      ["format", 1, 255],
      ["fromJSON", 1, 1],
      ["join", 1, 2],
      ["startsWith", 2, 2],
      ["toJSON", 1, 1],
      ["hashFiles", 1, 255],
      ["success", 0, 0],
      ["failure", 0, 0],
      ["always", 0, 0],
      ["cancelled", 0, 0],
    ] as const
  ).map(([name, min, max]) => [name.toLowerCase(), { name, min, max }]),
);

const EVERYWHERE = ["case", "contains", "endswith", "format", "fromjson", "join", "startswith", "tojson"];

/** The names that may be used in the place of an expression, in lower case. */
export interface Available {
  hasContext(name: string): boolean;
  hasFunction(name: string): boolean;
  /** Returns the names of contexts for hints. */
  contextNames(): readonly string[];
}

/** Whether a function exists in every place. */
function isEverywhere(name: string): boolean {
  return EVERYWHERE.includes(name);
}

/** Every name in an expression that does not exist where it stands, and every call with too few or too many arguments. */
export function* findNameProblems(expression: Expression, available: Available): Generator<Failure> {
  for (const context of expression.contexts) {
    if (!available.hasContext(context.name)) yield contextFailure(context, available);
  }
  for (const call of expression.calls) {
    const failure = callFailure(call, available);
    if (failure !== undefined) yield failure;
  }
}

function contextFailure({ name, text, offset, length }: ContextNode, available: Available): Failure {
  const known = available.contextNames();
  const list = known.length === 0 ? "No context is available here" : `Available here: ${known.slice(0, 20).join(", ")}`;
  if (CONTEXT_NAMES.includes(name)) {
    const message = `The context "${name}" is not available here`;
    return new Failure("NAME_NOT_AVAILABLE", message, { offset, length, hint: list });
  }
  const near = nearest(text, known);
  const hint = near === undefined ? list : `Did you mean "${near}"? ${list}`;
  return new Failure("UNKNOWN_NAME", `There is no context "${clip(text)}"`, { offset, length, hint });
}

function callFailure(call: CallNode, available: Available): Failure | undefined {
  const { name, text, offset, length } = call;
  const arity = ARITIES.get(name);
  if (arity === undefined) {
    const near = nearest(
      text,
      Array.from(ARITIES.values(), ({ name }) => name),
    );
    const hint = near === undefined ? undefined : `Did you mean "${near}"?`;
    return new Failure("UNKNOWN_FUNCTION", `There is no function "${clip(text)}"`, { offset, length, hint });
  }
  if (!isEverywhere(name) && !available.hasFunction(name)) {
    const hint = STATUS_FUNCTIONS.includes(name) ? 'Status functions are available only in "if"' : undefined;
    const message = `The function "${arity.name}" is not available here`;
    return new Failure("FUNCTION_NOT_AVAILABLE", message, { offset, length, hint });
  }
  return arityFailure(call, arity);
}

function arityFailure({ args, offset, length }: CallNode, { name, min, max }: Arity): Failure | undefined {
  const count = args.length;
  const place = { offset, length };
  if (name === "case" && count >= min && count % 2 === 0) {
    const message =
      '"case" takes an odd number of arguments: pairs of a condition and a value, then a value for the rest';
    return new Failure("WRONG_ARITY", message, place);
  }
  if (count >= min && count <= max) return undefined;
  const wanted = min === max ? String(min) : count < min ? `at least ${min}` : `at most ${max}`;
  const noun = wanted === "1" || wanted.endsWith(" 1") ? "argument" : "arguments";
  return new Failure("WRONG_ARITY", `"${name}" takes ${wanted} ${noun}, not ${count}`, place);
}
