import { type Contexts, evaluateTemplate, toText } from "@steps/github-language";
import type { CallWork } from "./workflow-work.ts";

/** The outputs of a workflow that was called, of the results of its jobs. */
export function evaluateOutputs(outputs: Readonly<Record<string, string>>, contexts: Contexts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, text]) => [name, toText(evaluateTemplate(text, { contexts }))]),
  );
}

/**
 * The secrets that a called workflow gets, by the names it knows.
 *
 * @param known the secrets of the caller, by name
 * @throws {GithubExpressionError}
 */
export function secretsOfCall(
  { secrets, needs }: Pick<CallWork, "secrets" | "needs">,
  known: Readonly<Record<string, string>>,
  contexts: Contexts,
): Record<string, string> {
  return secrets === "inherit" ? { ...known } : evaluateOutputs(secrets, { ...contexts, needs, secrets: { ...known } });
}
