import { join } from "node:path";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import type { SpecDefinition } from "@steps/model/definition";
import { sha256 } from "@steps/platform";

/** The folders in which the jobs of a CI file keep files: absolute. */
export interface JobStores {
  readonly artifactsDir: string;
  readonly cacheDir: string;
}

/** The stores of a project, below the state directory; artifacts stay there until the job runs again. */
export function projectStores(project: string, stateDir: string): JobStores {
  const folder = join(stateDir, "gitlab", sha256(realpathSync(project)).slice(0, 16));
  return { artifactsDir: join(folder, "artifacts"), cacheDir: join(folder, "cache") };
}

/** Removes the artifacts of a project whose time is over. */
export async function sweepStores({ artifactsDir }: JobStores): Promise<void> {
  if (!existsSync(artifactsDir)) return;
  const { removeExpired } = await import("@steps/builtins/run");
  await removeExpired(artifactsDir);
}

/** The stores of all projects below a state directory. */
export function allStores(stateDir: string): readonly string[] {
  const folder = join(stateDir, "gitlab");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => [join(folder, name, "artifacts"), join(folder, name, "cache")]);
}

/** The names of the inputs that are stores. */
export const storeNames: readonly string[] = ["artifacts_dir", "cache_dir"];

/** The folders among the inputs of a job that are stores. */
export function storesAmong(inputs: Readonly<Record<string, unknown>>): readonly string[] {
  return storeNames.flatMap((name) => {
    const path = inputs[name];
    return typeof path === "string" ? [path] : [];
  });
}

/** The stores that a compiled job asks for, as its inputs. */
export function storeInputs({ spec }: SpecDefinition, stores: JobStores): Record<string, string> {
  const known = { artifacts_dir: stores.artifactsDir, cache_dir: stores.cacheDir };
  return Object.fromEntries(Object.entries(known).filter(([name]) => Object.hasOwn(spec.inputs, name)));
}
