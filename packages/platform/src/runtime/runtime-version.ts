import { bun } from "./engine.ts";

/** The JavaScript engine that runs this program: `v24.1.0` for Node.js, `bun v1.4.5` in the packed executable. */
export function runtimeVersion(): string {
  return bun === undefined ? process.version : `bun v${bun.version}`;
}
