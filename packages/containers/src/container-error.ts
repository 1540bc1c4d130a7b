import { StepsError } from "@steps/model";
import { printable } from "@steps/model/diagnostic";

/** The engine did not do what it was asked (`CONTAINER_FAILED`), or a text names no image (`REFERENCE_INVALID`). */
export type ContainerErrorCode = "CONTAINER_FAILED" | "REFERENCE_INVALID";

/** A container cannot be had. */
export class ContainerError extends StepsError<ContainerErrorCode> {
  /** @param message may quote an engine's answer: what drives a terminal is taken out */
  constructor(code: ContainerErrorCode, message: string, options: { cause?: unknown; hint?: string | undefined } = {}) {
    super(code, printable(message), options);
  }
}
