import type { JobPayload } from "@steps/runner-api/job";
import { readTokenPrefixes } from "./token-prefixes.ts";

const MASK = "[MASKED]";
/** Shorter values are not masked, neither here nor in the output of the job. */
const MIN_BYTES = 5;
const TOKEN_TEXT = /[\w.=-]*/y;

/**
 * Masks what the runner itself says of a job: the secrets of its payload, each line of them, and what follows the prefixes of tokens
 * that the server names. What the job prints is masked by its service before it comes here.
 */
export function createLineMask(payload: JobPayload): (text: string) => string {
  const secrets = new Set(secretsOf(payload).flatMap((secret) => [secret, ...secret.split(/\r?\n/u)]));
  const known = [...secrets].filter((secret) => Buffer.byteLength(secret) >= MIN_BYTES);
  const { taken } = readTokenPrefixes(payload.features.token_mask_prefixes);
  return (text) => {
    /** How many secrets begin at a character, less those that end before it. */
    const steps = new Int32Array(text.length + 1);
    const hide = (start: number, end: number): void => {
      steps[start] = (steps[start] as number) + 1;
      steps[end] = (steps[end] as number) - 1;
    };
    for (const secret of known) forEachPlace(text, secret, (start, end) => hide(start, end));
    for (const prefix of taken) {
      let readTo = 0;
      forEachPlace(text, prefix, (_, end) => {
        // A prefix within a token that was read begins none of its own.
        if (end < readTo) return;
        readTo = endOfToken(text, end);
        hide(end, readTo);
      });
    }
    return withMarks(text, steps);
  };
}

function secretsOf({ token, variables, credentials, dependencies }: JobPayload): readonly string[] {
  return [
    token,
    ...variables.filter(({ masked }) => masked).map(({ value }) => value),
    ...credentials.map(({ password }) => password),
    ...dependencies.map((dependency) => dependency.token),
  ];
}

function forEachPlace(text: string, part: string, found: (start: number, end: number) => void): void {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) found(at, at + part.length);
}

function endOfToken(text: string, from: number): number {
  TOKEN_TEXT.lastIndex = from;
  return from + (TOKEN_TEXT.exec(text)?.[0].length ?? 0);
}

/** The text with one mark for each part of it that is covered. */
function withMarks(text: string, steps: Int32Array): string {
  let masked = "";
  let depth = 0;
  let shownFrom = 0;
  for (let at = 0; at <= text.length; at++) {
    const before = depth;
    depth += steps[at] as number;
    if (before === 0 && depth > 0) masked += text.slice(shownFrom, at) + MASK;
    if (depth === 0 && before > 0) shownFrom = at;
  }
  return masked + text.slice(shownFrom);
}
