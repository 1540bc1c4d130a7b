import { appendFileSync } from "node:fs";
import { encodeKeyValue } from "@steps/github-language/commands";
import type { BuiltinPlace } from "../images/builtin-images.ts";
import { BuiltinError } from "../builtin-error.ts";
import { runCheckout } from "./checkout.ts";
import { cleanUpCheckout } from "./checkout-config.ts";
import { checkoutStep } from "./checkout-step.ts";

/** Does what `actions/checkout` does, as the process of that step. @throws {BuiltinError} BUILTIN_FAILED @throws {CacheError} */
export async function runCheckoutProgram({ env, workDir, log, phase }: BuiltinPlace): Promise<void> {
  if (phase === "post") return cleanUpCheckout(stateOf(env), { env, workDir, log, setOutput() {} });
  const inputs: Record<string, string> = {};
  for (const name of Object.keys(checkoutStep.spec.inputs)) {
    const value = env[`INPUT_${name.toUpperCase().replaceAll("-", "_")}`];
    if (value !== undefined && value !== "") inputs[name] = value;
  }
  const output = env["GITHUB_OUTPUT"];
  if (output === undefined) {
    throw new BuiltinError("BUILTIN_FAILED", "Cannot check out: GITHUB_OUTPUT is not set", {
      hint: "This command is for the runner: write action: actions/checkout@v4.",
    });
  }
  await runCheckout(inputs, {
    env,
    workDir,
    log,
    warn: (line) => log(`::warning::${line.replaceAll("%", "%25").replaceAll("\n", "%0A")}`),
    setOutput: (name, value) => appendFileSync(output, encodeKeyValue(name, value)),
    saveState: (name, value) => {
      if (env["GITHUB_STATE"] !== undefined) appendFileSync(env["GITHUB_STATE"], encodeKeyValue(name, value));
    },
  });
}

function stateOf(env: BuiltinPlace["env"]): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    name.startsWith("STATE_") && value !== undefined ? [[name.slice("STATE_".length), value]] : [],
  );
  return Object.fromEntries(entries);
}
