import type { LoaderOptions } from "./load-step.ts";

/** The way to fetch and compile a step without running it. */
export interface LoadOptions extends Pick<
  LoaderOptions,
  "onDiagnostics" | "onNote" | "onProgress" | "isLenient" | "requiresTypes" | "vars"
> {
  readonly signal: AbortSignal;
}
