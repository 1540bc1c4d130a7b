import type { Value } from "@steps/model";
import type { CompileContext } from "./compile-context.ts";
import { keywordTemplate, literalTemplate, variableTemplate } from "./job-text.ts";
import { recordOf, textsOf } from "./keyword-values.ts";
import { libraryStep, type Phase } from "./phase.ts";

/** The secrets that the user grants to a job, by their names. */
export interface Granted {
  readonly granted: ReadonlySet<string>;
  /** Those that every job has as the path of a file. */
  readonly fileVariables: readonly string[];
}

/**
 * Variables of type file, `secrets` and `id_tokens`, as variables of all that comes after: with the values that the user grants to
 * the job by their names, and for a token without one a token that is signed here. `undefined` for a job without.
 */
export function preparePhase({ job, scope }: CompileContext, { granted, fileVariables }: Granted): Phase | undefined {
  const secretsNode = job.keywords.get("secrets")?.value;
  const tokensNode = job.keywords.get("id_tokens")?.value;
  const node = secretsNode ?? tokensNode ?? job.key;
  const secrets: Record<string, Value> = {};
  const tokens: Record<string, Value> = {};
  for (const name of fileVariables) secrets[name] = { value: grantTemplate(name), file: true };
  for (const [name, secret] of Object.entries(recordOf(secretsNode))) {
    secrets[name] = { value: grantTemplate(name), file: !isOff(secret) };
  }
  for (const [name, token] of Object.entries(recordOf(tokensNode))) {
    if (granted.has(name)) secrets[name] = { value: grantTemplate(name), file: false };
    else tokens[name] = { aud: audienceOf(token, scope) };
  }
  const hasTokens = Object.keys(tokens).length > 0;
  const hasSecrets = Object.keys(secrets).length > 0;
  if (!hasTokens && !hasSecrets) return undefined;
  // The claims that a token makes about the job.
  const names = Object.keys(scope.values).filter((name) => /^(?:CI|GITLAB_USER)_/.test(name));
  return {
    name: "prepare",
    step: libraryStep("prepare"),
    inputs: {
      // A folder of the run, which goes with it.
      tmp_dir: "${{ output_file }}.tmp",
      ...(hasSecrets ? { secrets } : {}),
      ...(hasTokens ? { id_tokens: tokens } : {}),
    },
    env: hasTokens ? Object.fromEntries(names.map((name) => [name, variableTemplate(name)])) : {},
    node,
  };
}

// A secret is a file unless it says otherwise.
function isOff(secret: Value): boolean {
  return typeof secret === "object" && secret !== null && !Array.isArray(secret) && secret["file"] === false;
}

// Null where the user grants none of that name: the step says so.
function grantTemplate(name: string): string {
  return `\${{ get(secrets, ${literalTemplate(JSON.stringify(name))}) }}`;
}

function audienceOf(token: Value, scope: CompileContext["scope"]): Value {
  const aud = typeof token === "object" && token !== null && !Array.isArray(token) ? token["aud"] : "";
  const texts = textsOf(aud).map((text) => keywordTemplate("id_tokens:aud", text, scope));
  return Array.isArray(aud) ? texts : (texts[0] ?? "");
}
