import { checkTemplate } from "@steps/expression";
import { revealString, Sensitive } from "@steps/model";
import { isReferenceProblem, parseReference, publicUrl, type StepReference } from "@steps/model/reference";
import { isNamed, kindOf } from "@steps/model/kinds";
import type { Expander, TextPlace } from "./expander.ts";

const SCHEME = /^\s*([a-zA-Z][a-zA-Z0-9+.-]*:\/\/)/;
// Anything else would end the user information early, and the rest of the secret would be host or path.
const USERINFO = /^[^/\\?#@\s]+$/;

/** The number of `@` that the expressions of the user information may hold. */
const MAX_TRIES = 16;

/**
 * A reference whose secret is the user information of its URL and nothing else:
 * `https://gitlab-ci-token:${{ job.CI_JOB_TOKEN }}@host/g/p@main`. Returns `undefined` when a sensitive value stands before or
 * behind the user information.
 */
export function parseWithCredentials(
  template: string,
  expander: Expander,
  place: TextPlace,
): StepReference | undefined {
  const scheme = SCHEME.exec(template)?.[1];
  if (scheme === undefined) return undefined;
  const start = template.indexOf(scheme) + scheme.length;
  const at = endOfUserinfo(template, start);
  if (at === -1) return undefined;
  const userinfo = revealString(expander.text(template.slice(start, at), place));
  const rest = expander.text(template.slice(at + 1), place);
  if (rest instanceof Sensitive || !USERINFO.test(userinfo)) return undefined;
  const parsed = parseReference(`${scheme}${userinfo}@${rest}`);
  if (isReferenceProblem(parsed) || !("url" in parsed)) return undefined;
  return parsed.url.includes(`://${userinfo}@`) && publicUrl(parsed.url) !== parsed.url ? parsed : undefined;
}

// The first `@` that is not part of an expression: before one that is, the template is not complete.
function endOfUserinfo(template: string, start: number): number {
  let at = template.indexOf("@", start);
  for (let tries = 0; at !== -1 && tries < MAX_TRIES; tries++) {
    if (checkTemplate(template.slice(start, at)).length === 0) return at;
    at = template.indexOf("@", at + 1);
  }
  return -1;
}

/** A reference as events carry it: without the user information of its URL. */
export function withoutCredentials(reference: StepReference): StepReference {
  return isNamed(reference) ? (kindOf(reference).withoutCredentials?.(reference) ?? reference) : reference;
}
