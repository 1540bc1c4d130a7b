import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ContainerCli } from "@steps/containers";

const swept = new Map<string, Promise<void>>();

/** Removes what killed processes with a state directory have left of jobs in containers; once for all jobs of this process. */
export function sweepOnce(cli: ContainerCli, stateDir: string): Promise<void> {
  const known = swept.get(stateDir) ?? sweep(cli, stateDir);
  swept.set(stateDir, known);
  return known;
}

/** The same, if there is anything to remove and an engine to ask. */
export async function sweepLeft(stateDir: string): Promise<void> {
  const folder = join(stateDir, "containers");
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  const { findEngine } = await import("./find-engine.ts");
  const engine = await findEngine();
  if ("cli" in engine) await sweepOnce(engine.cli, stateDir);
}

async function sweep(cli: ContainerCli, stateDir: string): Promise<void> {
  const { sweepContainers } = await import("@steps/job-containers");
  await sweepContainers(cli, stateDir);
}
