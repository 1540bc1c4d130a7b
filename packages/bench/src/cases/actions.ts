import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createEngine, type Engine } from "@steps/engine";
import { createGitRepository } from "@steps/testkit";
import { absolute, forms, interleaveAll, median, node, ratioOf, type Row, time } from "../measure.ts";

const COUNT = 50;
const ROUNDS = 15;
const RESOLVES = 50;

/** Measures the cost of GitHub actions over that of the programs that they run. */
export async function actions(env: NodeJS.ProcessEnv, scratch: string): Promise<Row[]> {
  const dir = join(scratch, "actions");
  mkdirSync(dir);
  const own = { ...env, STEP_RUNNER_TRACE_SYNC: "background" };
  return [...(await composite(own, dir)), ...(await javascript(own, dir)), ...(await resolve(scratch, dir))];
}

async function composite(env: NodeJS.ProcessEnv, dir: string): Promise<Row[]> {
  const action = join(dir, "composite");
  mkdirSync(action);
  const step = "    - {shell: 'bash -e {0}', run: 'true'}\n";
  writeFileSync(join(action, "action.yml"), `runs:\n  using: composite\n  steps:\n${step.repeat(COUNT)}`);
  const script = join(dir, "true.sh");
  writeFileSync(script, "true\n");
  const loop = `i=0; while [ $i -lt ${COUNT} ]; do bash -e "$1"; i=$((i+1)); done`;
  const STEPS = JSON.stringify([{ name: "all", action: "./composite" }]);
  const [floor = [], ...times] = await interleaveAll(ROUNDS, [
    () => time("dash", ["-c", loop, "dash", script], { env }),
    ...forms.map(
      ({ command }) =>
        () =>
          time(command, ["ci", "--quiet"], { env: { ...env, STEPS }, cwd: dir }),
    ),
  ]);
  return forms.map(({ name }, i) =>
    ratioOf(`composite action of ${COUNT} steps : ${COUNT} × bash -e FILE [${name}]`, {
      floor,
      measured: times[i] ?? [],
      limit: 2,
    }),
  );
}

// The start of the job is in it, as a user waits for both.
async function javascript(env: NodeJS.ProcessEnv, dir: string): Promise<Row[]> {
  const action = join(dir, "javascript");
  mkdirSync(action);
  const main = join(action, "main.js");
  writeFileSync(main, `process.stdout.write("hello\\n");\n`);
  writeFileSync(join(action, "action.yml"), "runs: {using: node24, main: main.js, post: main.js}\n");
  const job = { env: { ...env, STEPS: JSON.stringify([{ action: "./javascript" }]) }, cwd: dir };
  const [floor = [], ...times] = await interleaveAll(ROUNDS, [
    async () => (await time(node, [main], { env })) + (await time(node, [main], { env })),
    ...forms.map(
      ({ command }) =>
        () =>
          time(command, ["ci", "--quiet"], job),
    ),
  ]);
  return forms.map(({ name }, i) =>
    ratioOf(`node action with post : two bare nodes [${name}]`, { floor, measured: times[i] ?? [], limit: 1.15 }),
  );
}

/** A step and an action of git, both in the cache, by a process that has used them before. */
async function resolve(scratch: string, dir: string): Promise<Row[]> {
  const repository = join(dir, "repository");
  mkdirSync(repository);
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`src/part${i}.js`, `// ${i}\n`]));
  const made = await createGitRepository(repository, {
    "action.yml": "name: a\ninputs: {who: {default: world}}\nruns: {using: node24, main: dist/index.js}\n",
    "step.yml": "spec: {inputs: {who: {default: world}}}\n---\nexec: {command: [echo, '${{ inputs.who }}']}\n",
    "dist/index.js": "console.log(1);\n",
    ...files,
  });
  const url = `file://${repository}`;
  const version = await made.revision();
  const action = {
    kind: "action",
    source: "repository",
    url,
    repository: "owner/repository",
    version,
    dir: "",
  } as const;
  const step = { kind: "git", url, version, dir: "", file: "step.yml" } as const;
  return [
    await load("cached action, resolved and compiled", { scratch, dir, reference: action }),
    await load("cached step of git, resolved and compiled", { scratch, dir, reference: step }),
  ];
}

async function load(
  name: string,
  options: { readonly scratch: string; readonly dir: string; readonly reference: Parameters<Engine["load"]>[0] },
): Promise<Row> {
  const { scratch, dir, reference } = options;
  const folders = { cacheDir: join(scratch, "action-cache"), stateDir: join(scratch, "action-state") };
  const times: number[] = [];
  for (let round = 0; round <= RESOLVES; round++) {
    await using engine = createEngine({ runner: { name: "bench", version: "0" }, ...folders });
    const start = performance.now();
    await engine.load(reference, dir, { signal: new AbortController().signal });
    // The first one fetches.
    if (round > 0) times.push(performance.now() - start);
  }
  return absolute(name, { measured: median(times), limit: 1, unit: "ms" });
}
