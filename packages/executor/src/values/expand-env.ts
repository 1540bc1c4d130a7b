import type { RuntimeString } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { escapePointer } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import type { Expander } from "./expander.ts";

/** Expands a block of variables; the keys do not see each other. */
export function expandEnv(
  expander: Expander,
  env: Readonly<Record<string, string>>,
  pointer: string,
): Readonly<Record<string, RuntimeString>> {
  const result = Object.create(null) as Record<string, RuntimeString>;
  for (const name of Object.keys(env)) {
    const key = expandName(expander, name, "env");
    const place = { what: `env "${key}"`, pointer: `${pointer}/env/${escapePointer(name)}` };
    result[key] = expander.text(env[name] ?? "", place);
  }
  return result;
}

/** Expands the name of an input or a variable. @throws {ExecuteError} EXPRESSION_FAILED */
export function expandName(expander: Expander, name: string, kind: "input" | "env"): string {
  const key = expander.text(name, { what: `name of ${kind} "${name}"`, pointer: "" });
  if (typeof key === "string" && (key === name || NAME_PATTERN.test(key))) return key;
  if (typeof key === "string") {
    const shown = JSON.stringify(key.slice(0, 80));
    throw new ExecuteError("EXPRESSION_FAILED", `name of ${kind} "${name}": ${shown} is no name`);
  }
  throw new ExecuteError("EXPRESSION_FAILED", `name of ${kind} "${name}": it is made of a sensitive value`);
}
