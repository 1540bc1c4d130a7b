import { createObject, type RuntimeString, type RuntimeValue, Sensitive } from "@steps/model";
import { encodeReference } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import type { Resource, SecretFound, StepEvent, StepPlanned } from "@steps/model/event";
import { publicUrl, type StepReference } from "@steps/model/reference";
import { secretTexts } from "@steps/model/value";
import type { ValJson } from "@steps/proto";
import { applyRules, type RuleContext } from "./apply-rules.ts";
import type { JournalEvent, Vals } from "./journal-event.ts";
import { setMember } from "./fast-record.ts";
import { MASK, type Masker, type SecretOrigin } from "./mask.ts";
import { type RedactedDefinition, redactDefinition } from "./redact-definition.ts";
import { maskJson, maskString, redactValue, registerComposed, registerSecrets } from "./redact-value.ts";
import { EVENT_RULES, RESOURCE_RULES } from "./redaction-rules.ts";

/** Turns what happened into what may be stored and shown. */
export interface Redactor {
  /**
   * Registers every marked text of the event with the masker, then replaces: marked values and values that hold a known
   * secret become `Redacted`, those above 1 MiB their digest; every text is masked, also of a field that is not known, unless the
   * rules exempt it. The digest of a definition that a secret was taken out of is that of what is left.
   *
   * @throws {TraceError} SECRETS_TOO_LARGE
   */
  redact(event: StepEvent): JournalEvent;
  readonly masker: Masker;
}

type Records = Readonly<Record<string, RuntimeValue>>;

/** A redactor of one run. Secrets it finds are known to the masker from then on. */
export function createRedactor(masker: Masker): Redactor {
  const context: RuleContext = {
    masker,
    handlers: {
      value: (value: RuntimeValue) => redactValue(value, masker),
      values: (record: Records) => caches.values(record),
      environment: (record: Readonly<Record<string, RuntimeString>>) => caches.environment(record),
      definition: (value: SpecDefinition) => caches.definition(value).json,
      reference: (value: StepReference) => caches.reference(value),
      resource: (value: Resource) => caches.resource(value),
      resources: (values: readonly Resource[]) => values.map((value) => caches.resource(value)),
      address: (url: string) => maskString(publicUrl(url), masker),
      command: (words: readonly RuntimeString[]) =>
        words.map((word) => (word instanceof Sensitive ? MASK : maskString(word, masker))),
      found: (values: readonly RuntimeValue[]) => values.length,
      // It was masked when it was stored.
      inline: (text: string) => text,
    },
  };
  const caches = createCaches(context);
  let ofJob: { readonly specDefinition: SpecDefinition; readonly digest: string | undefined } | undefined;
  // The job's own definition is stored as it was when the run started, whatever became known as a secret since.
  const digestOfPlan = ({ specDefinition, definitionDigest }: StepPlanned): string => {
    const { digest } = specDefinition === ofJob?.specDefinition ? ofJob : caches.definition(specDefinition);
    return digest ?? definitionDigest;
  };

  const finish = (event: StepEvent, stored: Record<string, unknown>): unknown => {
    switch (event.type) {
      case "run-started": {
        const { specDefinition } = event.job;
        const { redactedTexts, digest } = caches.definition(specDefinition);
        ofJob = { specDefinition, digest };
        if (redactedTexts.length === 0) return stored;
        return { ...stored, job: { ...(stored["job"] as object), redactedTexts } };
      }
      case "step-planned":
        return { ...stored, definitionDigest: digestOfPlan(event) };
      case "secret-found": {
        const { values, ...rest } = stored;
        return { ...rest, count: values };
      }
      default:
        return stored;
    }
  };
  return {
    masker,
    redact(event) {
      registerAll(event, masker);
      const stored = applyRules(event, EVENT_RULES[event.type], context);
      return finish(event, stored as Record<string, unknown>) as JournalEvent;
    },
  };
}

/** Makes all secrets of an event known to the masker. */
function registerAll(event: StepEvent, masker: Masker): void {
  if (event.type === "secret-found") registerFound(event, masker);
  const origin = originOf(event);
  for (const record of marked(event)) {
    for (const key of Object.keys(record)) registerSecrets(record[key] as RuntimeValue, masker, origin);
  }
  for (const record of composed(event)) {
    for (const key of Object.keys(record)) registerComposed(record[key] as RuntimeValue, masker, origin);
  }
}

// These values come from the job and from the runner; a step cannot have made them up.
function originOf({ type }: StepEvent): SecretOrigin {
  return type === "run-started" || type === "variable-read" ? "job" : "step";
}

// Texts that are derived from a form are not forms of the secret, and there is room for a limited number only.
function registerFound({ values }: SecretFound, masker: Masker): void {
  const [secret, ...forms] = values.flatMap((value) => [...secretTexts(value)]);
  if (secret !== undefined) masker.add(secret, "step");
  for (const form of forms) masker.addForm(form);
}

/** The parts of an event that may be marked. */
function marked(event: StepEvent): readonly Records[] {
  switch (event.type) {
    case "run-started":
      return [event.job.inputs, event.job.env, event.job.grants ?? {}];
    case "variable-read":
      return [{ value: event.value }];
    case "step-planned":
      return [event.inputs, event.invocation.inputs, event.secrets ?? {}];
    case "step-finished":
      return [event.outputs, event.exports];
    case "run-finished":
      return [event.outputs];
    case "secret-found":
    case "step-opened":
    case "component-resolved":
    case "process-starting":
    case "process-started":
    case "note":
      return [];
  }
}

/** The parts of an event whose texts are made of values that were registered when they were read. */
function composed(event: StepEvent): readonly Records[] {
  if (event.type === "step-planned") return [event.invocation.env, event.definitionEnv];
  return event.type === "process-starting" ? [event.env, { command: [...event.command] }] : [];
}

// A definition lives as long as the job: a list of thousands of them would keep all that was made of each.
const MAX_KEPT = 64;

function keep<Key, Value>(known: Map<Key, Value>, key: Key, value: Value): void {
  if (known.size >= MAX_KEPT) known.clear();
  known.set(key, value);
}

interface Caches {
  values(record: Records): Vals;
  /**
   * Does the same as `values()` and remembers each variable's last value, since nearly all stay the same from step to
   * step.
   */
  environment(record: Readonly<Record<string, RuntimeString>>): Vals;
  definition(value: SpecDefinition): RedactedDefinition;
  resource(value: Resource): Resource;
  reference(value: StepReference): unknown;
}

function createCaches(context: RuleContext): Caches {
  const { masker } = context;
  let version = masker.version;
  let variables = new Map<string, { readonly value: RuntimeString; readonly key: string; readonly val: ValJson }>();
  const definitions = new Map<SpecDefinition, RedactedDefinition>();
  const resources = new Map<Resource, Resource>();
  const references = new Map<StepReference, unknown>();
  const refresh = (): void => {
    if (version === masker.version) return;
    version = masker.version;
    variables = new Map();
    for (const known of [definitions, resources, references]) known.clear();
  };
  return {
    values(record) {
      const result = createObject<ValJson>();
      for (const key of Object.keys(record)) {
        result[maskString(key, masker)] = redactValue(record[key] as RuntimeValue, masker);
      }
      return result;
    },
    environment(record) {
      refresh();
      const result: Record<string, ValJson> = {};
      for (const name of Object.keys(record)) {
        const value = record[name] as RuntimeString;
        let known = variables.get(name);
        if (known?.value !== value) {
          known = { value, key: maskString(name, masker), val: redactValue(value, masker) };
          variables.set(name, known);
        }
        setMember(result, known.key, known.val);
      }
      return result;
    },
    resource(value) {
      refresh();
      const known = resources.get(value);
      if (known) return known;
      const redacted = applyRules(value, RESOURCE_RULES, context) as Resource;
      keep(resources, value, redacted);
      return redacted;
    },
    reference(value) {
      refresh();
      const known = references.get(value);
      if (known !== undefined) return known;
      const redacted = maskJson(encodeReference(value), masker);
      keep(references, value, redacted);
      return redacted;
    },
    definition(value) {
      refresh();
      const known = definitions.get(value);
      if (known) return known;
      const redacted = redactDefinition(value, masker);
      keep(definitions, value, redacted);
      return redacted;
    },
  };
}
