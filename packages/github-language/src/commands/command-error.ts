import { StepsError } from "@steps/model";

/** A file behind `GITHUB_ENV`, `GITHUB_OUTPUT` or `GITHUB_STATE` that cannot be read, or a pair that cannot be written. */
export class FileCommandError extends StepsError<"FILE_COMMAND"> {
  /** The line of the file, from 1; 0 when there is no file yet. */
  readonly line: number;

  constructor(message: string, line = 0) {
    super("FILE_COMMAND", line === 0 ? message : `${message} (line ${line})`);
    this.line = line;
  }
}

/** A file of problem matchers that cannot be used: no JSON, not of the form, or with a pattern that is not supported. */
export class ProblemMatcherError extends StepsError<"PROBLEM_MATCHER"> {
  constructor(message: string, hint?: string) {
    super("PROBLEM_MATCHER", message, { hint });
  }
}

/** A pattern of `hashFiles` that cannot be used. */
export class HashPatternError extends StepsError<"HASH_PATTERN"> {
  constructor(message: string) {
    super("HASH_PATTERN", message);
  }
}
