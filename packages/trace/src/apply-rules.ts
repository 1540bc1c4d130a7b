import { Sensitive } from "@steps/model";
import { setMember } from "./fast-record.ts";
import { MASK, type Masker } from "./mask.ts";
import { maskString } from "./redact-value.ts";
import type { Exempt, Kind, Omitted, Rule, Rules } from "./redaction-rules.ts";

/** For each kind, the function that gives its stored form. */
type Handlers = Readonly<Record<Kind, (value: never) => unknown>>;

/**
 * Returns a copy without secrets and without the fields that are omitted: a value that has a kind goes through its handler, an
 * exempt text stays as it is, and every other text is masked.
 */
export function applyRules(value: unknown, rule: Rule, context: RuleContext): unknown {
  if (Array.isArray(value) && (typeof rule !== "string" || rule === "text")) {
    return value.map((item: unknown) => applyRules(item, rule, context));
  }
  if (typeof rule === "string" && rule !== "text") return context.handlers[rule](value as never);
  if (value instanceof Sensitive) return MASK;
  if (typeof value === "string") return isExempt(rule) ? value : maskString(value, context.masker);
  if (typeof value !== "object" || value === null) return value;
  const rules: Rules = typeof rule === "string" || isExempt(rule) || isOmitted(rule) ? {} : rule;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (item === undefined) continue;
    const known = Object.hasOwn(rules, key) ? rules[key] : undefined;
    // The name of a field that nobody thought of may be what a step wrote.
    if (known === undefined) setMember(result, maskString(key, context.masker), applyRules(item, "text", context));
    else if (!isOmitted(known)) setMember(result, key, applyRules(item, known, context));
  }
  return result;
}

export interface RuleContext {
  readonly masker: Masker;
  readonly handlers: Handlers;
}

function isExempt(rule: Rule): rule is Exempt {
  return typeof rule === "object" && "because" in rule && typeof rule.because === "string";
}

function isOmitted(rule: Rule): rule is Omitted {
  return typeof rule === "object" && "omittedBecause" in rule && typeof rule.omittedBecause === "string";
}
