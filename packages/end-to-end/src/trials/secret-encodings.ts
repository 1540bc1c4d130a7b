import { execFileSync } from "node:child_process";
import { hasProgram } from "@steps/testkit";
import { runMaskedScript } from "../kit/masked-run.ts";
import { latin1, secretOf } from "../kit/secrets.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";
import { ENCODINGS, readForms, scriptFor } from "./encodings.ts";

/**
 * The number of characters of a form in a row that count as a leak: 9 bytes of base64, 6 of hex. Fewer remain where a
 * form meets its neighbours.
 */
const LEAK = 12;

export const secretEncodings: Trial = {
  name: "secret-encodings",
  holds: "A secret is not to be seen in the forms that common tools print it in, and that are promised to be known.",
  count: 36,
  smallCount: 3,
  attempt: ({ random, seed }) =>
    withUser(async (user) => {
      const { kind, secret, other } = secretOf(random, seed);
      const there = ENCODINGS.filter(({ program }) => hasProgram(program));
      const script = scriptFor(there);
      const { ended } = await runMaskedScript(user, secret, script);
      if (ended.code !== 0) return { failure: `the job ended with ${ended.code}: ${ended.stderr.slice(-300)}` };
      const print = (value: string): ReadonlyMap<number, string> => {
        const env = { ...user.env, SECRET: value };
        return readForms(execFileSync("bash", ["-c", script], { env, encoding: "latin1" }));
      };
      // A text that a tool also prints of another secret does not give this one away.
      const forms = { mine: print(secret), others: print(other) };
      const masked = readForms(latin1(ended.stdout));
      if (masked.size !== there.length || forms.mine.size !== there.length)
        return { failure: `${masked.size} of ${there.length} forms were printed: ${ended.stderr.slice(-300)}` };
      const leaks = there.flatMap((encoding, index) => {
        const [mine = "", others = "", printed = ""] = [forms.mine, forms.others, masked].map((from) =>
          from.get(index),
        );
        const leak = leakOf({ mine, others, printed }, encoding.leak ?? LEAK);
        return leak === undefined ? [] : [{ encoding, leak }];
      });
      const promised = leaks.filter(({ encoding }) => encoding.isPromised);
      const text = promised.map(({ encoding, leak }) => `${encoding.name}: ${JSON.stringify(leak)}`).join("; ");
      return {
        failure: promised.length === 0 ? undefined : `(${kind}) ${text}`,
        measured: {
          "forms printed": there.length,
          leaks: promised.length,
          "leaks of forms that are not promised": leaks.length - promised.length,
        },
      };
    }),
};

interface Printed {
  readonly mine: string;
  /** The tool's output for another secret. */
  readonly others: string;
  /** The form as the job's output shows it. */
  readonly printed: string;
}

/** A stretch of a form, and not of that of another secret, that is to be seen. */
function leakOf({ mine, others, printed }: Printed, length: number): string | undefined {
  for (let at = 0; at + length <= mine.length; at++) {
    const stretch = mine.slice(at, at + length);
    if (isTelling(stretch) && printed.includes(stretch) && !others.includes(stretch)) return stretch;
  }
  return undefined;
}

/** Offsets, also those that the stretch has only a part of, and blanks tell nothing of the secret. */
function isTelling(stretch: string): boolean {
  return stretch.replace(/\b0[0-7]{3,6}\b|\s+/g, "").length >= (stretch.length * 3) / 5;
}
