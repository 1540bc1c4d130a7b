import type { LoaderOptions } from "./load-step.ts";

/** How a step is fetched and compiled that nobody runs. */
export interface LoadOptions extends Pick<
  LoaderOptions,
  "onDiagnostics" | "onNote" | "onProgress" | "isLenient" | "requiresTypes" | "vars"
> {
  readonly signal: AbortSignal;
}
