import { defineCommand, flag } from "@steps/console";
import { print } from "@steps/console/terminal";
import { loadConfig, type RunnerConfig } from "@steps/runner";
import { configFlags, configOf } from "../runners/config-flags.ts";

export const runners = defineCommand({
  name: "runners",
  summary: "List the runners that are registered here",
  usage: "[flags]",
  flags: {
    format: flag.choice(["table", "json"], { summary: "How it is written", default: "table" }),
    ...configFlags,
  },
  positionals: { min: 0, max: 0 },
  examples: [["runner-bridge runners --format json", "list the runners for a program"]],
  async run(options) {
    const rows = loadConfig(configOf(options)).runners.map(rowOf);
    await print(options.format === "json" ? `${JSON.stringify(rows, null, 2)}\n` : tableOf(rows));
    return 0;
  },
});

interface Row {
  readonly name: string;
  readonly id: number;
  readonly url: string;
  readonly executor: string;
  /** Absent: never. */
  readonly tokenExpiresAt?: string | undefined;
}

// Without the tokens, which would end up in logs.
function rowOf({ name, id, url, executor, token_expires_at: tokenExpiresAt }: RunnerConfig): Row {
  return { name, id, url, executor, tokenExpiresAt };
}

function tableOf(rows: readonly Row[]): string {
  const lines = [
    ["NAME", "ID", "EXECUTOR", "URL", "TOKEN EXPIRES"],
    ...rows.map(({ name, id, executor, url, tokenExpiresAt }) => [
      name,
      String(id),
      executor,
      url,
      tokenExpiresAt ?? "never",
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]): string =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return `${lines.map(format).join("\n")}\n`;
}
