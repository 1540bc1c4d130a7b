import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine } from "@steps/engine";
import { createGitRepository } from "@steps/testkit";
import { absolute, atMost, command, interleave, median, node, type Row, time } from "../measure.ts";

const COUNT = 50;
const USES = 20;
const ROUNDS = 50;

/** Measures the cost of GitHub actions over that of the programs that they run. */
export async function actions(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const dir = join(scratch, "actions");
  mkdirSync(dir);
  const own = { ...env, STEP_RUNNER_TRACE_SYNC: "background" };
  return [await composite(own, dir), await javascript(own, dir), await resolve(scratch, dir)];
}

async function composite(env: NodeJS.ProcessEnv, dir: string): Promise<Row> {
  const action = join(dir, "composite");
  mkdirSync(action);
  const step = "    - {shell: 'bash -e {0}', run: 'true'}\n";
  writeFileSync(join(action, "action.yml"), `runs:\n  using: composite\n  steps:\n${step.repeat(COUNT)}`);
  const script = join(dir, "true.sh");
  writeFileSync(script, "true\n");
  const bare = join(dir, "bare.mjs");
  writeFileSync(
    bare,
    `import { spawn } from "node:child_process";
for (let i = 0; i < ${COUNT}; i++) {
  await new Promise((resolve) => {
    const child = spawn("bash", ["-e", ${JSON.stringify(script)}], { stdio: ["ignore", "pipe", "pipe"], detached: true });
    child.stdout.resume();
    child.stderr.resume();
    child.once("close", resolve);
  });
}`,
  );
  const STEPS = JSON.stringify([{ name: "all", action: "./composite" }]);
  const [floor = 0, measured = 0] = await interleave(7, [
    () => time(node, [bare], { env }),
    () => time(command, ["ci", "--quiet"], { env: { ...env, STEPS }, cwd: dir }),
  ]);
  return atMost(`composite action of ${COUNT} steps : ${COUNT} × bash -e FILE`, { floor, measured, limit: 1.5 });
}

// Each use more costs a start of Node and what we do around it; the start of the job is in neither.
async function javascript(env: NodeJS.ProcessEnv, dir: string): Promise<Row> {
  const action = join(dir, "javascript");
  mkdirSync(action);
  const main = join(action, "main.js");
  writeFileSync(main, `process.stdout.write("hello\\n");\n`);
  writeFileSync(join(action, "action.yml"), "runs: {using: node24, main: main.js}\n");
  const jobOf = (uses: number) => ({
    env: { ...env, STEPS: JSON.stringify(Array.from({ length: uses }, () => ({ action: "./javascript" }))) },
    cwd: dir,
  });
  const [bare = 0, one = 0, many = 0] = await interleave(7, [
    () => time(node, [main], { env }),
    () => time(command, ["ci", "--quiet"], jobOf(1)),
    () => time(command, ["ci", "--quiet"], jobOf(USES + 1)),
  ]);
  const cost = (many - one) / USES - bare;
  return absolute("node action over node main.js", { measured: cost, limit: 10, unit: "ms" });
}

async function resolve(scratch: string, dir: string): Promise<Row> {
  const repository = join(dir, "repository");
  mkdirSync(repository);
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`src/part${i}.js`, `// ${i}\n`]));
  const made = await createGitRepository(repository, {
    "action.yml": "name: a\ninputs: {who: {default: world}}\nruns: {using: node24, main: dist/index.js}\n",
    "dist/index.js": "console.log(1);\n",
    ...files,
  });
  const reference = {
    kind: "action",
    source: "repository",
    url: `file://${repository}`,
    repository: "owner/repository",
    version: await made.revision(),
    dir: "",
  } as const;
  const options = { cacheDir: join(scratch, "action-cache"), stateDir: join(scratch, "action-state") };
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await using engine = createEngine({ runner: { name: "bench", version: "0" }, ...options });
    const start = performance.now();
    await engine.load(reference, dir, { signal: new AbortController().signal });
    // The first one fetches.
    if (round > 0) times.push(performance.now() - start);
  }
  return absolute("cached action, resolved and compiled", { measured: median(times), limit: 2, unit: "ms" });
}
