/** A value that a job is given, for `${{ job.inputs.NAME }}`. */
export interface JobInput {
  readonly key: string;
  readonly value: {
    /** `string`, `number`, `boolean`, `array` or `struct`. */
    readonly type: string;
    /** A value of that type; null makes the job unreadable to gitlab-runner. */
    readonly content: unknown;
    readonly sensitive: boolean;
  };
}
