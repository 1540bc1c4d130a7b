/** Tasks in a job's container before its job begins: what the command in the container is given, as JSON. Paths are those in there. */
export interface Preparation {
  /** The folder whose owner is the user outside. */
  readonly reference: string;
  /** Folders that the user of the job gets, with all that is in them. */
  readonly own: readonly string[];
  /** Folders that several jobs share: everybody gets to write in them and to read what is there. */
  readonly open: readonly string[];
  readonly services: readonly AwaitedService[];
  /** How long the services have to answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** A service that is waited for: until one of its ports accepts a connection. */
export interface AwaitedService {
  /** Names it in the answer. */
  readonly name: string;
  readonly host: string;
  /** From 1 to 65535. */
  readonly ports: readonly number[];
}

/** The answer to a preparation, as one line of JSON. */
export interface Prepared {
  /** True when files of the job may not belong to the user outside when it has ended. */
  readonly hasStrangers: boolean;
  /** The names of the services that did not answer. */
  readonly silent: readonly string[];
  /** The texts of errors that kept folders from being handed over. */
  readonly problems: readonly string[];
}

/** Folders that go back to the user outside when a job has ended, as JSON. Paths are those in the container. */
export interface Restoration {
  readonly reference: string;
  readonly folders: readonly string[];
}
