import { readFileSync } from "node:fs";
import { UsageError } from "@steps/console";
import { errors } from "@steps/console/terminal";
import { formatDiagnostic } from "@steps/model/diagnostic";
import type { RouterConfig } from "@steps/pod-router";

/** Reads the file with the pods, and says what is wrong with it: then there are none. @throws {UsageError} */
export async function readPods(path: string): Promise<RouterConfig | undefined> {
  const { readRouterConfig } = await import("@steps/pod-router");
  const { config, diagnostics } = readRouterConfig({ name: path, text: readText(path) });
  if (diagnostics.length > 0) await errors.writeLines(`${diagnostics.map(formatDiagnostic).join("\n")}\n`);
  return config;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`);
  }
}
