import {
  createObject,
  encodeReference,
  type FetchReport,
  type Outcome,
  publicUrl,
  type Resource,
  type RuntimeString,
  type RuntimeValue,
  type SecretFound,
  Sensitive,
  secretTexts,
  type SpecDefinition,
  type StepEvent,
  type StepFailure,
  type StepPlanned,
  type StepReference,
} from "@steps/model";
import type { Step_ReferenceJson, ValJson } from "@steps/proto";
import type { JournalEvent, Vals } from "./journal-event.ts";
import { setMember } from "./fast-record.ts";
import { MASK, type Masker } from "./mask.ts";
import { type RedactedDefinition, redactDefinition } from "./redact-definition.ts";
import { maskJson, maskString, redactValue, registerSecrets } from "./redact-value.ts";

/** Turns what happened into what may be stored and shown. */
export interface Redactor {
  /**
   * Registers every marked text of the event with the masker, then replaces: marked values and values that hold a known
   * secret become `Redacted`, those above 1 MiB their digest; every text is masked. The digest of a definition that a
   * secret was taken out of is that of what is left.
   */
  redact(event: StepEvent): JournalEvent;
  readonly masker: Masker;
}

type Records = Readonly<Record<string, RuntimeValue>>;

/** A redactor of one run. Secrets it finds are known to the masker from then on. */
export function createRedactor(masker: Masker): Redactor {
  const text = (value: string): string => maskString(value, masker);
  const caches = createCaches(masker);
  const values = (record: Records): Vals => caches.values(record);
  const reference = (value: StepReference): Step_ReferenceJson => maskJson(encodeReference(value), masker);
  const resource = (value: Resource): Resource => caches.resource(value);
  const failure = (error: StepFailure): StepFailure => ({ code: error.code, message: text(error.message) });
  const argument = (value: RuntimeString): string => (value instanceof Sensitive ? MASK : text(value));
  const outcome = ({ error, ...rest }: Outcome): Outcome => (error ? { ...rest, error: failure(error) } : rest);

  let job: { readonly definition: SpecDefinition; readonly redacted: RedactedDefinition } | undefined;
  // The job's own definition is stored as it was when the run started, whatever became known as a secret since.
  const digestOfPlan = ({ specDefinition, definitionDigest }: StepPlanned): string => {
    const { digest } = specDefinition === job?.definition ? job.redacted : caches.definition(specDefinition);
    return digest ?? definitionDigest;
  };

  const redact = (event: StepEvent): JournalEvent => {
    switch (event.type) {
      case "run-started": {
        const { definition, inputs, env, secrets, ...request } = event.request;
        const redacted = caches.definition(definition);
        const { redactedTexts } = redacted;
        job = { definition, redacted };
        return {
          ...event,
          request: {
            ...maskJson(request, masker),
            definition: redacted.json,
            ...(redactedTexts.length === 0 ? {} : { redactedTexts }),
            inputs: values(inputs),
            env: caches.environment(env),
            ...(secrets === undefined ? {} : { secrets: values(secrets) }),
          },
        };
      }
      case "step-opened": {
        const { reference: opened, ...rest } = event;
        return { ...rest, name: text(event.name), ...(opened ? { reference: reference(opened) } : {}) };
      }
      case "variable-read":
        return { ...event, name: text(event.name), value: redactValue(event.value, masker) };
      case "component-resolved":
        return { ...event, resource: resource(event.resource), fetch: { ...event.fetch } satisfies FetchReport };
      case "step-planned": {
        const { component, reference: planned, invocation, secrets, ...rest } = event;
        return {
          ...rest,
          specDefinition: caches.definition(event.specDefinition).json,
          definitionDigest: digestOfPlan(event),
          ...(component ? { component: resource(component) } : {}),
          subpath: text(event.subpath),
          ...(planned ? { reference: reference(planned) } : {}),
          inputs: values(event.inputs),
          invocation: { inputs: values(invocation.inputs), env: values(invocation.env) },
          definitionEnv: values(event.definitionEnv),
          ...(secrets === undefined ? {} : { secrets: values(secrets) }),
          places: maskJson(event.places, masker),
        };
      }
      case "process-starting":
        return {
          ...event,
          command: event.command.map(argument),
          workDir: text(event.workDir),
          env: caches.environment(event.env),
          tools: event.tools.map(resource),
          places: maskJson(event.places, masker),
        };
      case "process-started":
        return event;
      case "secret-found": {
        const { values: found, ...rest } = event;
        return { ...rest, count: found.length };
      }
      case "step-finished": {
        const { error, ...rest } = event;
        return {
          ...rest,
          ...(error ? { error: failure(error) } : {}),
          outputs: values(event.outputs),
          exports: values(event.exports),
          ...(event.delegateOf === undefined ? {} : { delegateOf: text(event.delegateOf) }),
          ...(event.skipReason === undefined ? {} : { skipReason: text(event.skipReason) }),
          ...(event.annotations === undefined ? {} : { annotations: maskJson(event.annotations, masker) }),
          ...(event.summary === undefined ? {} : { summary: text(event.summary) }),
        };
      }
      case "note":
        return { ...event, message: text(event.message) };
      case "run-finished":
        return { ...event, outcome: outcome(event.outcome), outputs: values(event.outputs) };
    }
  };
  return {
    masker,
    redact(event) {
      if (event.type === "secret-found") registerFound(event, masker);
      for (const record of marked(event)) {
        for (const key of Object.keys(record)) registerSecrets(record[key] as RuntimeValue, masker);
      }
      return redact(event);
    },
  };
}

// What is derived of a form is no form of the secret, and only so much can be looked for.
function registerFound({ values }: SecretFound, masker: Masker): void {
  const [secret, ...forms] = values.flatMap((value) => [...secretTexts(value)]);
  if (secret !== undefined) masker.add(secret);
  for (const form of forms) masker.addForm(form);
}

/** The parts of an event that may be marked. */
function marked(event: StepEvent): readonly Records[] {
  switch (event.type) {
    case "run-started":
      return [event.request.inputs, event.request.env, event.request.secrets ?? {}];
    case "variable-read":
      return [{ value: event.value }];
    case "step-planned":
      return [event.inputs, event.invocation.inputs, event.invocation.env, event.definitionEnv, event.secrets ?? {}];
    case "process-starting":
      return [event.env, { command: [...event.command] }];
    case "step-finished":
      return [event.outputs, event.exports];
    case "run-finished":
      return [event.outputs];
    case "secret-found":
    case "step-opened":
    case "component-resolved":
    case "process-started":
    case "note":
      return [];
  }
}

interface Caches {
  values(record: Records): Vals;
  /** As `values()`, remembering each variable's last value: from step to step nearly all stay the same. */
  environment(record: Readonly<Record<string, RuntimeString>>): Vals;
  definition(value: SpecDefinition): RedactedDefinition;
  resource(value: Resource): Resource;
}

function createCaches(masker: Masker): Caches {
  let version = masker.version;
  let variables = new Map<string, { readonly value: RuntimeString; readonly key: string; readonly val: ValJson }>();
  let definitions = new WeakMap<SpecDefinition, RedactedDefinition>();
  let resources = new WeakMap<Resource, Resource>();
  const refresh = (): void => {
    if (version === masker.version) return;
    version = masker.version;
    variables = new Map();
    definitions = new WeakMap();
    resources = new WeakMap();
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
      const { uri, downloadLocation } = value;
      const redacted: Resource = {
        ...maskJson(value, masker),
        uri: maskString(publicUrl(uri), masker),
        ...(downloadLocation === undefined
          ? {}
          : { downloadLocation: maskString(publicUrl(downloadLocation), masker) }),
      };
      resources.set(value, redacted);
      return redacted;
    },
    definition(value) {
      refresh();
      const known = definitions.get(value);
      if (known) return known;
      const redacted = redactDefinition(value, masker);
      definitions.set(value, redacted);
      return redacted;
    },
  };
}
