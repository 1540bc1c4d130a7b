import type { Resource } from "@steps/model/event";
import { digestOf } from "@steps/platform";
import type { SpecDefinitionJson, ValJson } from "@steps/proto";
import { applyRules, type RuleContext } from "./apply-rules.ts";
import type { JournalEvent, JournalRunStarted, JournalStepPlanned, Vals } from "./journal-event.ts";
import { mapMembers, setMember } from "./fast-record.ts";
import type { Masker } from "./mask.ts";
import { redactDefinitionJson } from "./redact-definition.ts";
import { maskJson, maskString, redactValue } from "./redact-value.ts";
import { EVENT_RULES, RESOURCE_RULES } from "./redaction-rules.ts";

/**
 * Takes out of events that were stored what the masker came to know only afterwards: an output that turned out to be sensitive
 * may stand in the job's own definition. Digests are those of what is left. An event in which nothing is found is given back
 * itself.
 */
export function redactAgain(events: readonly JournalEvent[], masker: Masker): JournalEvent[] {
  const context = createContext(masker);
  let job: string | undefined;
  return events.map((event) => {
    const masked = applyRules(event, EVENT_RULES[event.type], context) as JournalEvent;
    if (event.type === "run-started") {
      const started = maskStarted(event, masked as JournalRunStarted, masker);
      if (started !== undefined) job = digestOf(started.job.specDefinition);
      return started ?? sameOr(event, masked);
    }
    if (event.type === "step-planned") return maskPlanned(event, masked as JournalStepPlanned, job);
    return sameOr(event, masked);
  });
}

function sameOr(event: JournalEvent, masked: JournalEvent): JournalEvent {
  return JSON.stringify(event) === JSON.stringify(masked) ? event : masked;
}

// Undefined when the definition holds nothing: then its digest is what it was.
function maskStarted(
  event: JournalRunStarted,
  masked: JournalRunStarted,
  masker: Masker,
): JournalRunStarted | undefined {
  const { pointers } = redactDefinitionJson(event.job.specDefinition, masker);
  if (pointers.length === 0) return undefined;
  const before = event.job.redactedTexts ?? [];
  const redactedTexts = [...new Set([...before, ...pointers].map((pointer) => maskString(pointer, masker)))];
  return { ...masked, job: { ...masked.job, redactedTexts } };
}

function maskPlanned(event: JournalStepPlanned, masked: JournalStepPlanned, job: string | undefined): JournalEvent {
  const digest =
    digestOf(event.specDefinition) === event.definitionDigest ? digestOf(masked.specDefinition) : undefined;
  const definitionDigest = (event.path === "" ? job : digest) ?? event.definitionDigest;
  return sameOr(event, { ...masked, definitionDigest });
}

function createContext(masker: Masker): RuleContext {
  const val = (stored: ValJson): ValJson => maskVal(stored, masker);
  const vals = (stored: Vals): Vals => {
    const result: Record<string, ValJson> = {};
    for (const [name, item] of Object.entries(mapMembers(stored, val)))
      setMember(result, maskString(name, masker), item);
    return result;
  };
  const json = (value: unknown): unknown => maskJson(value, masker);
  const context: RuleContext = {
    masker,
    handlers: {
      value: val,
      values: vals,
      environment: vals,
      definition: (value: SpecDefinitionJson) => redactDefinitionJson(value, masker).json,
      reference: json,
      resource: (value: Resource) => applyRules(value, RESOURCE_RULES, context),
      resources: (values: readonly Resource[]) => values.map((value) => applyRules(value, RESOURCE_RULES, context)),
      address: json,
      command: json,
      found: json,
      inline: (text: string) => maskInline(text, masker),
    },
  };
  return context;
}

function maskVal(stored: ValJson, masker: Masker): ValJson {
  if (stored.redacted === undefined) return redactValue(stored.value ?? null, masker);
  const { masked } = stored.redacted;
  return masked === undefined ? stored : { redacted: { ...stored.redacted, masked: maskJson(masked, masker) } };
}

/** Masks a log that is stored inside the trace; its digests remain those of the output. */
function maskInline(text: string, masker: Masker): string {
  const bytes = Buffer.from(text, "base64");
  const masked = masker.bytes(bytes);
  return masked === bytes ? text : Buffer.from(masked).toString("base64");
}
