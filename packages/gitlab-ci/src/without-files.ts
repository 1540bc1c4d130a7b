import type { LoadPipelineOptions } from "./load/load-pipeline.ts";

/** Loads a file that includes no other: each include is an error. */
export const withoutFiles: LoadPipelineOptions = {
  loadFile: () => ({ problem: "Other files are out of reach here" }),
};
