import { StepsError } from "@steps/model";

/**
 * Why the running program cannot be started where nothing else is: Node is built in a way that cannot be carried along
 * (`BOOTSTRAP_UNSUPPORTED`), or a file of it was removed meanwhile (`BOOTSTRAP_BROKEN`).
 */
export type LibrariesErrorCode = "BOOTSTRAP_UNSUPPORTED" | "BOOTSTRAP_BROKEN";

/** The running program cannot be started where nothing else is. */
export class LibrariesError extends StepsError<LibrariesErrorCode> {}
