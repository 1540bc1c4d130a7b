import type { Value } from "@steps/model";
import type { Definition, InputSpec, OutputSpec, Spec, SpecDefinition, StepInvocation } from "@steps/model/definition";
import { formatReference } from "@steps/model/reference";

type Writable = { [key: string]: Value };

/**
 * A spec and a definition as the two documents of a step file, in the words that an author would write; `compileStepFile()` reads
 * the same back from their YAML. Definitions of GitHub, secrets and what only the baseline can say are left out.
 */
export function writeStepFile({ spec, definition }: SpecDefinition): readonly [spec: Value, definition: Value] {
  return [{ spec: writeSpec(spec) }, writeDefinition(definition)];
}

function writeSpec({ description, inputs, outputs }: Spec): Value {
  return known({
    description,
    inputs: filled(mapValues(inputs, writePort)),
    outputs: outputs === "delegate" ? "delegate" : filled(mapValues(outputs, writePort)),
  });
}

function writePort(port: InputSpec | OutputSpec): Value {
  const { options, match } = port as InputSpec;
  return known({
    type: port.type,
    description: port.description,
    default: port.default,
    sensitive: port.isSensitive ? true : undefined,
    options: options && [...options],
    match,
  });
}

function writeDefinition(definition: Definition): Writable {
  const { env, inheritEnv } = definition;
  const common = { env: filled(env), inherit_env: inheritEnv && [...inheritEnv] };
  if (definition.type === "exec") {
    const { command, workDir, timeoutMs, cancelTimeoutMs, hasContextFile } = definition;
    const exec = known({
      command: [...command],
      work_dir: workDir,
      timeout: durationOf(timeoutMs),
      cancel_timeout: durationOf(cancelTimeoutMs),
      context_file: hasContextFile === true ? true : undefined,
    });
    return known({ ...common, exec });
  }
  const { steps, finally: last = [], isParallel, outputs, delegate } = definition;
  return known({
    ...common,
    [isParallel === true ? "parallel" : "run"]: steps.map(writeInvocation),
    finally: last.length === 0 ? undefined : last.map(writeInvocation),
    outputs: filled(outputs),
    delegate,
  });
}

function writeInvocation({ name, step, inputs, env, secrets, control = {} }: StepInvocation): Value {
  const { condition, continueOnError, timeoutMs, retry } = control;
  return known({
    name: name === "" ? undefined : name,
    if: condition,
    ...writeWork(step, inputs),
    env: filled(env),
    secrets: filled(secrets ?? {}),
    timeout: durationOf(timeoutMs),
    retry: retry && { max: retry.max, backoff: `${retry.backoffMs}ms` },
    continue_on_error: continueOnError === true ? true : undefined,
  });
}

function writeWork(
  step: StepInvocation["step"],
  inputs: StepInvocation["inputs"],
): Readonly<Record<string, Value | undefined>> {
  if (step.kind === "inline") return writeDefinition(step.specDefinition.definition);
  if (step.kind === "action") return { action: formatReference(step), with: filled(inputs) };
  const { script, ...options } = inputs;
  if (step.kind === "dist" && step.path === "script" && script !== undefined) {
    return { script, inputs: filled(options) };
  }
  return { step: step.kind === "dynamic" ? step.text : formatReference(step), inputs: filled(inputs) };
}

/** The time in whole seconds where it can be said so. */
function durationOf(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  if (ms % 60_000 === 0) return `${ms / 60_000}m`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

function mapValues<T>(record: Readonly<Record<string, T>>, map: (value: T) => Value): Writable {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function filled(record: Readonly<Record<string, Value>>): Value | undefined {
  return Object.keys(record).length === 0 ? undefined : { ...record };
}

function known(record: Readonly<Record<string, Value | undefined>>): Writable {
  const entries = Object.entries(record).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
