import { create, type JsonValue } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { fromJson } from "@bufbuild/protobuf";
import { randomBytes, randomUUID } from "node:crypto";
import type { Step } from "@steps/proto";
import { type RunRequest, RunRequestSchema } from "@steps/proto/service";

/** A job variable. */
export interface JobVariable {
  readonly value: string;
  /** A secret: masked wherever it turns up. */
  readonly isMasked?: boolean;
  /** The value goes to a file; the variable is its path. */
  readonly isFile?: boolean;
}

/** Something that a runner has to say of a job before it begins. */
export interface JobNote {
  readonly level: "debug" | "info" | "warning" | "error";
  /** Kebab-case and stable: `container-image`. */
  readonly code: string;
  /** At most 4096 bytes. */
  readonly message: string;
}

/** A job as a runner has it; one of `definition`, `steps` and `ciScript` says what it does. */
export interface JobRequest {
  /** The id of the job. Default: chosen at random. The same id again means the same job, never a second one. */
  readonly id?: string;
  /** Told from an earlier job with the same id by it: 128 random bits unless given. Keep it with the id to send a request again. */
  readonly nonce?: string;
  /** A list of steps, or a whole definition, as text: YAML or JSON. */
  readonly definition?: string;
  /** The name of the definition in diagnostics: the file it was read from. */
  readonly source?: string;
  readonly steps?: readonly Step[];
  readonly ciScript?: string;
  /** The job's name in its trace. */
  readonly name?: string;
  /**
   * The job's working directory, an absolute path on the service's machine. When absent, the service chooses its own
   * directory.
   */
  readonly workDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, JobVariable>>;
  readonly inputs?: Readonly<Record<string, JsonValue>>;
  /**
   * Secrets that the job can grant to its steps, by name, besides its masked variables. They are masked wherever they
   * appear.
   */
  readonly grants?: Readonly<Record<string, string>>;
  readonly maskedValues?: readonly string[];
  /**
   * The starts of tokens, as `glpat-`, that are masked with those of GitLab: whatever letters, digits and `-._=` follow one of them.
   * At most 15, each of 1 to 64 characters of printable ASCII. Default: none.
   */
  readonly tokenMaskPrefixes?: readonly string[];
  /** The runner's notes on the job before it begins; they are the first notes of the trace. At most 100. */
  readonly notes?: readonly JobNote[];
  /**
   * Steps of the job's own list whose output is a section of the log, as GitLab's web page folds them: the line that heads it, in
   * printable ASCII, by the name of the step. The service writes the marks and the line to stderr.
   */
  readonly sections?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** How long a cancelled step has between TERM and KILL, in milliseconds. */
  readonly graceMs?: number;
}

/**
 * A token for one job: 256 random bits as text, 43 letters, digits, `-` and `_`. Whoever follows, cancels or closes the job has to know
 * it. It does not begin with `-`, so that a command line takes it for the value of a flag.
 */
export function createJobToken(): string {
  const token = randomBytes(32).toString("base64url");
  return token.startsWith("-") ? createJobToken() : token;
}

/** The request on the wire, with a random id and nonce unless they are given. */
export function toRunRequest(job: JobRequest): RunRequest {
  const inputs = Object.entries(job.inputs ?? {}).map(([name, value]) => [name, fromJson(ValueSchema, value)] as const);
  const variables = Object.entries(job.variables ?? {}).map(([key, { value, isMasked = false, isFile = false }]) => ({
    key,
    value,
    masked: isMasked,
    file: isFile,
  }));
  return create(RunRequestSchema, {
    id: job.id ?? randomUUID(),
    nonce: job.nonce ?? randomBytes(16).toString("hex"),
    definition: job.definition ?? "",
    source: job.source ?? "",
    steps: [...(job.steps ?? [])],
    ciScript: job.ciScript ?? "",
    jobName: job.name ?? "",
    workDir: job.workDir ?? "",
    env: { ...job.env },
    variables,
    inputs: Object.fromEntries(inputs),
    secrets: { ...job.grants },
    maskedValues: [...(job.maskedValues ?? [])],
    tokenMaskPrefixes: [...(job.tokenMaskPrefixes ?? [])],
    notes: (job.notes ?? []).map((note) => ({ ...note })),
    sections: { ...job.sections },
    timeout: job.timeoutMs === undefined ? undefined : toDuration(job.timeoutMs),
    grace: job.graceMs === undefined ? undefined : toDuration(job.graceMs),
  });
}

function toDuration(ms: number): Duration {
  const wholeMs = Math.round(ms);
  return create(DurationSchema, { seconds: BigInt(Math.floor(wholeMs / 1000)), nanos: (wholeMs % 1000) * 1_000_000 });
}
