import { absolute, forms, interleaveAll, node, peakMemory, ratioOf, type Row, time } from "../measure.ts";

const STEPS = "- {name: hello, script: echo hello world}\n";
const ROUNDS = 25;

/** Measures the cost of the command before a step does anything, in both forms. */
export async function start(env: NodeJS.ProcessEnv): Promise<Row[]> {
  const withSteps = { ...env, STEPS };
  const [floor = [], ...times] = await interleaveAll(ROUNDS, [
    () => time(node, ["-e", "0"], { env }),
    ...forms.flatMap(({ command }) => [
      () => time(command, ["--version"], { env }),
      () => time(command, ["ci"], { env: withSteps }),
    ]),
  ]);
  const rows: Row[] = [];
  for (const [i, { name, command, isPacked }] of forms.entries()) {
    const [version = [], hello = []] = times.slice(2 * i);
    const limits = isPacked ? { version: 0.5, hello: 1.3, memory: 45 } : { version: 1.3, hello: 2.5, memory: 90 };
    const memory = await peakMemory(command, ["ci"], { env: withSteps });
    rows.push(
      ratioOf(`--version : node -e 0 [${name}]`, { floor, measured: version, limit: limits.version }),
      ratioOf(`hello-world with ci : node -e 0 [${name}]`, { floor, measured: hello, limit: limits.hello }),
      absolute(`peak memory, hello-world [${name}]`, { measured: memory, limit: limits.memory, unit: "MB" }),
    );
  }
  return rows;
}
