import type { Job, Outcome } from "@steps/model";
import type {
  ComponentResolved,
  ProcessStarting,
  ProcessStarted,
  RunFinished,
  RunNote,
  RunStarted,
  SecretFound,
  StepFinished,
  StepOpened,
  StepPlanned,
  VariableRead,
} from "@steps/model/event";
import type { SpecDefinitionJson, Step_ReferenceJson, ValJson } from "@steps/proto";

/** Values by name as a journal and a trace hold them. */
export type Vals = Readonly<Record<string, ValJson>>;

/**
 * A `StepEvent` that may be stored and shown: plain JSON without a secret. Values are `ValJson`, definitions and
 * references are baseline messages, every text is masked.
 */
export type JournalEvent =
  | JournalRunStarted
  | JournalStepOpened
  | JournalVariableRead
  | ComponentResolved
  | JournalStepPlanned
  | JournalProcessStarting
  | ProcessStarted
  | JournalSecretFound
  | JournalStepFinished
  | RunNote
  | JournalRunFinished;

export interface JournalRunStarted extends Omit<RunStarted, "job"> {
  readonly job: RedactedJob;
}

/** A `Job` that may be stored and shown. Its variables are in the events that tell of their reading. */
export interface RedactedJob extends Pick<
  Job,
  "entry" | "name" | "source" | "includedFiles" | "mode" | "workDir" | "baseDir" | "workspace" | "stores"
> {
  readonly specDefinition: SpecDefinitionJson;
  /** The JSON Pointers of the texts in `specDefinition` that a secret was taken out of. Absent when there are none. */
  readonly redactedTexts?: readonly string[];
  readonly inputs: Vals;
  readonly env: Vals;
  readonly grants?: Vals;
}

interface JournalStepOpened extends Omit<StepOpened, "reference"> {
  readonly reference?: Step_ReferenceJson;
}

interface JournalVariableRead extends Omit<VariableRead, "value"> {
  readonly value: ValJson;
}

export interface JournalStepPlanned extends Omit<
  StepPlanned,
  "specDefinition" | "reference" | "inputs" | "invocation" | "definitionEnv" | "secrets"
> {
  readonly specDefinition: SpecDefinitionJson;
  readonly reference?: Step_ReferenceJson;
  readonly inputs: Vals;
  readonly invocation: { readonly inputs: Vals; readonly env: Vals };
  readonly definitionEnv: Vals;
  readonly secrets?: Vals;
}

export interface JournalProcessStarting extends Omit<ProcessStarting, "command" | "env"> {
  readonly command: readonly string[];
  readonly env: Vals;
}

interface JournalSecretFound extends Omit<SecretFound, "values"> {
  /** How many; nothing of the values is kept. */
  readonly count: number;
}

export interface JournalStepFinished extends Omit<StepFinished, "outputs" | "exports"> {
  readonly outputs: Vals;
  readonly exports: Vals;
}

export interface JournalRunFinished extends Omit<RunFinished, "outputs" | "outcome"> {
  readonly outcome: Outcome;
  readonly outputs: Vals;
}
