import type { SpecDefinition } from "./definition/definition.ts";
import type { Position } from "./diagnostic/position.ts";
import type { RuntimeString, RuntimeValue } from "./value/value.ts";

/**
 * A job: the steps to run and everything that they are given. It is the same object in a command, in the job table of a
 * service, in the engine and in the executor; each of them adds what is its own beside it (limits, a deadline, an id, a token),
 * never a copy with other names. The first event of a run tells it, and the journal and the trace hold it redacted.
 */
export interface Job {
  /** The command or service that the job came by; `replay` for a job that was read from a trace. */
  readonly entry: "ci" | "local" | "run" | "replay" | "service";
  /** The job's name in its trace, such as `CI_JOB_NAME`. A job without a name has none in its trace. */
  readonly name?: string;
  /** The name of the definition in diagnostics and in the trace, as the user gave it: a file, `STEPS`, `-`. */
  readonly source: string;
  /** The files that `source` includes, sorted by name, each with what its content is known by. Absent or empty when it includes none. */
  readonly includedFiles?: readonly IncludedFile[];
  /** The steps to run, compiled: a spec with its definition. */
  readonly specDefinition: SpecDefinition;
  /**
   * The place in `source` of a JSON pointer into the encoded `specDefinition`, such as `/definition/exec/command/0`. Absent
   * when the definition has no text that a user could look at; errors then name no place.
   */
  readonly positionOf?: (pointer: string) => Position | undefined;
  /** The values of the inputs that the spec declares. A text may stand for a value of any type, as on a command line. */
  readonly inputs: Readonly<Record<string, RuntimeValue>>;
  /** The job variables: `vars` in expressions, and no part of any process's environment. Secret ones are marked. */
  readonly vars: Readonly<Record<string, RuntimeString>>;
  /**
   * The environment that every step starts from, below all that steps declare. The engine adds nothing to it; a service
   * adds a job's own to its ambient environment before. Secret variables are marked.
   */
  readonly env: Readonly<Record<string, RuntimeString>>;
  /** The variables that steps of the user's own may name in `inherit_env` though they are not in `env`. Default: none. */
  readonly offeredEnv?: Readonly<Record<string, RuntimeString>>;
  /** The secrets, by name, that the job can grant to steps that ask for them, besides marked job variables. Default: none. */
  readonly grants?: Readonly<Record<string, RuntimeString>>;
  /** The texts to mask wherever they turn up, besides all that is marked in the other fields. Default: none. */
  readonly maskedValues?: readonly string[];
  /** The way the language is read, where it is not the default. */
  readonly mode?: RunMode;
  /** The directory in which processes start: absolute and existing. */
  readonly workDir: string;
  /** The directory that the job's local references are relative to: absolute, mostly `workDir`. */
  readonly baseDir: string;
  /** The copy of the project that the job runs in. Absent for a job that runs in the project itself. */
  readonly workspace?: JobWorkspace;
  /**
   * The names of the inputs that are folders in which the jobs of one pipeline keep files. Another run of it has others, so in a
   * trace `{{name}}` stands for the path. Default: none.
   */
  readonly stores?: readonly string[];
}

/** A copy of a project that is there for one job alone. Both paths are absolute. */
interface JobWorkspace {
  /** The folder with all that belongs to the workspace; no other job ever has it. `workDir` lies in it. */
  readonly root: string;
  /** The folder of the project that `workDir` stands for. */
  readonly projectDir: string;
}

/** A file that a configuration includes. */
export interface IncludedFile {
  /** The name that it has in messages: a path, a URL, `group/project@commit:path`. */
  readonly name: string;
  /** `gitCommit`, the full commit, of what came from a repository; `sha256`, 64 hex digits, of everything else. */
  readonly digest: Readonly<Record<string, string>>;
}

/** The way the language is read. A field that is absent stands for the default. */
export interface RunMode {
  /** The year or document whose rules apply where they differ (conformance sections 20 C1 and 20 C12). Default: those of today. */
  readonly compat?: "2025" | "blueprint" | "auto";
  /** When true, only strings may have text around them (conformance section 20 C3). Default: false. */
  readonly isStrictMoa?: boolean;
  /** When true, a variable that the job does not have is an error in expressions, and not an empty text. Default: false. */
  readonly isStrictVars?: boolean;
  /**
   * When true, a secret in a place that is not marked for secrets is noted instead of refused (conformance section 20
   * C30). Default: false.
   */
  readonly warnsOfSensitive?: boolean;
}
