// Calls GitHub's own clients in a process of its own, as an action does: `toolkit-client.ts CLIENT METHOD ARGUMENTS-JSON`.
// The last line that it prints is the answer as JSON; above it are the client's workflow commands.
import { writeSync } from "node:fs";

type Call = (...args: readonly unknown[]) => Promise<unknown>;

const [client = "", method = "", json = "[]"] = process.argv.slice(2);

async function load(): Promise<Record<string, Call>> {
  if (client === "cache") return (await import("@actions/cache")) as unknown as Record<string, Call>;
  if (client === "artifact") return (await import("@actions/artifact")).default as unknown as Record<string, Call>;
  // CommonJS that was compiled from a module: its default is one level down.
  if (client === "artifact-v2") {
    return (await import("actions-artifact-v2")).default.default as unknown as Record<string, Call>;
  }
  const v1 = await import("actions-artifact-v1");
  return v1.create() as unknown as Record<string, Call>;
}

const loaded = await load();
try {
  const result = await loaded[method]?.apply(loaded, JSON.parse(json) as unknown[]);
  writeSync(1, `\n${JSON.stringify({ result: result ?? null })}\n`);
} catch (error) {
  writeSync(1, `\n${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`);
}
