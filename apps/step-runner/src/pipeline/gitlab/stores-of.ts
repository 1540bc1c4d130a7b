import { join } from "node:path";
import { sha256 } from "@steps/platform";
import type { JobStores } from "../../files/job-stores.ts";
import type { CiContext } from "./ci-pipeline.ts";

/** The stores of the jobs of a pipeline. */
export function storesOf({ stores }: CiContext, path: string): JobStores {
  if (path === "") return stores;
  // Jobs of a child may have the names of others.
  return { ...stores, artifactsDir: join(stores.artifactsDir, "children", sha256(path).slice(0, 16)) };
}
