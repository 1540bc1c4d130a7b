import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readAll } from "./files.ts";
import { latin1 } from "./secrets.ts";
import type { Ended, User } from "./user.ts";

/** Everything that a reader of a job can see: what was printed, and every file that the runner wrote. */
export interface Seen {
  readonly ended: Ended;
  readonly places: readonly { readonly path: string; readonly content: string }[];
}

/** Runs a script of Node whose variable `SECRET` is masked, and gathers all that can be seen of it afterwards. */
export async function runMasked(user: User, secret: string, program: string): Promise<Seen> {
  const file = join(user.dir, "program.mjs");
  writeFileSync(file, program);
  return runMaskedScript(user, secret, `'${process.execPath}' '${file}'`);
}

/** The same for a script of the shell. */
export async function runMaskedScript(user: User, secret: string, script: string): Promise<Seen> {
  const steps = [{ name: "a", script, env: { SECRET: "${{ vars.CI_SECRET }}" } }];
  const files = ["--output-file", join(user.work, "trace.json"), "--step-results-file", join(user.work, "result.json")];
  const ended = await user.run(["ci", "--mask-variable", "CI_SECRET", ...files], {
    env: { STEPS: JSON.stringify(steps), CI_SECRET: secret },
  });
  return { ended, places: placesOf(user, ended) };
}

/** Returns all texts that were printed and written so far. */
function placesOf(user: User, { stdout, stderr }: Ended): Seen["places"] {
  const printed = [
    { path: "stdout", content: latin1(stdout) },
    { path: "stderr", content: latin1(stderr) },
  ];
  return [...printed, ...readAll(user.state), ...readAll(user.work)];
}
