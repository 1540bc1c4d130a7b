import { runMasked } from "../kit/masked-run.ts";
import { partsOf, secretOf } from "../kit/secrets.ts";
import { withUser } from "../kit/user.ts";
import type { Trial } from "../trial.ts";

/** Writes the secret in two pieces at every offset, then in single bytes, to both streams, with time between the writes. */
const PROGRAM = `import { writeSync } from "node:fs";
const secret = Buffer.from(process.env.SECRET);
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
for (let at = 1; at < secret.length; at++) {
  const stream = 1 + (at & 1);
  writeSync(stream, Buffer.concat([Buffer.from("<"), secret.subarray(0, at)]));
  if (at % 3 === 0) writeSync(3 - stream, "between\\n");
  wait(at % 7);
  writeSync(stream, Buffer.concat([secret.subarray(at), Buffer.from(">\\n")]));
}
for (const stream of [1, 2]) for (const byte of secret) writeSync(stream, Buffer.from([byte]));
`;

export const secretPieces: Trial = {
  name: "secret-pieces",
  holds: "A secret that is written in pieces, cut at every offset, is nowhere to be seen, nor is a line of it.",
  count: 60,
  smallCount: 3,
  attempt: ({ random, seed }) =>
    withUser(async (user) => {
      const { kind, secret } = secretOf(random, seed);
      const { ended, places } = await runMasked(user, secret, PROGRAM);
      const leaks = places.flatMap(({ path, content }) =>
        partsOf(secret)
          .filter((part) => content.includes(part))
          .map((part) => `${path}: ${part.slice(0, 80)}`),
      );
      const cuts = Buffer.byteLength(secret) * 3 - 1;
      const isRun = ended.code === 0 && ended.stdout.includes("[MASKED]");
      const problems = [...(isRun ? [] : [`the job ended with ${ended.code}: ${ended.stderr.slice(-300)}`]), ...leaks];
      return {
        failure: problems.length === 0 ? undefined : `(${kind}) ${problems.slice(0, 3).join("; ")}`,
        measured: { "pieces written": cuts, leaks: leaks.length },
      };
    }),
};
