import type { RuntimeValue } from "@steps/model";
import type { RunStatusJson, ValJson } from "@steps/proto";
import type { Masker } from "../mask.ts";
import { maskString, redactValue } from "../redact-value.ts";
import type { JobEnd } from "./pipeline-journal-event.ts";

/** The end of a job before anything is masked. */
interface PlainEnd {
  readonly status: RunStatusJson;
  readonly isAllowedToFail?: boolean;
  readonly reason?: string;
  readonly outputs?: Readonly<Record<string, RuntimeValue>>;
}

/** The end of a job as it may be stored and shown. */
export function redactEnd({ status, isAllowedToFail, reason, outputs }: PlainEnd, masker: Masker): JobEnd {
  const vals = Object.entries(outputs ?? {}).map(([name, value]): [string, ValJson] => [
    maskString(name, masker),
    redactValue(value, masker),
  ]);
  return {
    status,
    isAllowedToFail,
    reason: reason === undefined ? undefined : maskString(reason, masker),
    outputs: vals.length === 0 ? undefined : Object.fromEntries(vals),
  };
}

/**
 * Masks the names of jobs and instances. A name is always masked to the same text, and different names to different ones, so that
 * nothing is mixed up.
 */
export class NameMasker {
  readonly #known = new Map<string, string>();
  readonly #given = new Set<string>();
  readonly #masker: Masker;

  constructor(masker: Masker) {
    this.#masker = masker;
  }

  readonly name = (name: string): string => {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const masked = maskString(name, this.#masker);
    const unique = masked === name ? name : this.#unlikeOthers(masked);
    this.#given.add(unique);
    this.#known.set(name, unique);
    return unique;
  };

  #unlikeOthers(masked: string): string {
    let unique = masked;
    for (let n = 2; this.#given.has(unique); n++) unique = `${masked} (${n})`;
    return unique;
  }
}
