import { absolute, atMost, command, interleave, node, peakMemory, type Row, time } from "../measure.ts";

const STEPS = "- {name: hello, script: echo hello world}\n";

/** Measures the cost of the command before a step does anything. */
export async function start(env: NodeJS.ProcessEnv): Promise<Row[]> {
  const withSteps = { ...env, STEPS };
  const [floor = 0, version = 0, hello = 0] = await interleave(25, [
    () => time(node, ["-e", "0"], { env }),
    () => time(command, ["--version"], { env }),
    () => time(command, ["ci"], { env: withSteps }),
  ]);
  return [
    atMost("step-runner --version : node -e 0", { floor, measured: version, limit: 1.3 }),
    atMost("hello-world with ci : node -e 0", { floor, measured: hello, limit: 2.5 }),
    absolute("peak memory, hello-world", { measured: await peakMemory(["ci"], withSteps), limit: 90, unit: "MB" }),
  ];
}
