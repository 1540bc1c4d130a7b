// Calls GitHub's own clients in a process of its own, as an action does: `toolkit-client.ts CLIENT CALLS-JSON`, each call an
// array of the method's name and its arguments. The last line that it prints is the answers as JSON; above it are the
// client's workflow commands.
import { writeSync } from "node:fs";

type Call = (...args: readonly unknown[]) => Promise<unknown>;

const [client = "", json = "[]"] = process.argv.slice(2);

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
const answers: { result?: unknown; error?: string }[] = [];
for (const [method = "", ...args] of JSON.parse(json) as [string, ...unknown[]][]) {
  try {
    answers.push({ result: (await loaded[method]?.apply(loaded, args)) ?? null });
  } catch (error) {
    answers.push({ error: error instanceof Error ? error.message : String(error) });
  }
}
writeSync(1, `\n${JSON.stringify(answers)}\n`);
