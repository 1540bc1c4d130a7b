import { StepsError } from "@steps/model";

/**
 * Why this program could not be put somewhere else: there is no launcher for this system or processor, or Node is built in
 * a way that cannot be carried along (`BOOTSTRAP_UNSUPPORTED`), or a file of the program is not as it should be
 * (`BOOTSTRAP_BROKEN`).
 */
export type BootstrapErrorCode = "BOOTSTRAP_UNSUPPORTED" | "BOOTSTRAP_BROKEN";

/** This program could not be put somewhere else. */
export class BootstrapError extends StepsError<BootstrapErrorCode> {}
