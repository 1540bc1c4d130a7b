import type { InputSpec } from "@steps/model/definition";
import type { StoreInput } from "./job-text.ts";
import type { Phase } from "./phase.ts";

/** The folders that a compiled job may be given, as inputs. */
export const STORES: Readonly<Record<StoreInput, InputSpec>> = {
  artifacts_dir: storeInput("The folder in which jobs keep their artifacts: absolute"),
  cache_dir: storeInput("The folder in which caches are kept: absolute"),
};

function storeInput(description: string): InputSpec {
  return { type: "string", isSensitive: false, description };
}

/** The folders that these phases use. */
export function storesOf(phases: readonly Phase[]): Readonly<Record<string, InputSpec>> {
  const used = Object.entries(STORES).filter(([name]) => phases.some(({ inputs }) => inputs?.[name] !== undefined));
  return Object.fromEntries(used);
}
