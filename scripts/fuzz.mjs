// pnpm fuzz [MINUTES]: the property tests of everything that reads what others wrote, with a new seed each round; 10 minutes
// unless told. A round that fails names its seed: STEPS_SEED=N npm test -- FILE finds the same again.
import { randomInt } from "node:crypto";
import { globSync } from "node:fs";
import { environment, root, run, setUp } from "./setup.mjs";

setUp();
const minutes = Number(process.argv[2] ?? 10);
if (!(minutes > 0)) {
  process.stderr.write(`fuzz: not a number of minutes: ${process.argv[2]}\n`);
  process.exit(2);
}
const files = globSync("{packages,apps}/*/{src,test}/**/*.prop.test.ts", { cwd: root }).toSorted();
const end = Date.now() + minutes * 60_000;
let rounds = 0;
while (Date.now() < end && process.exitCode === undefined) {
  const seed = randomInt(2 ** 31);
  const left = Math.ceil((end - Date.now()) / 60_000);
  process.stderr.write(`fuzz: round ${++rounds}, seed ${seed}, ${left} min left\n`);
  const env = { ...environment, STEPS_SEED: String(seed) };
  const args = ["run", "--reporter=dot", ...files];
  if (run("vitest", args, { env }) === 0) continue;
  process.stderr.write(`fuzz: found something: STEPS_SEED=${seed} npm test -- FILE\n`);
  process.exitCode = 1;
}
