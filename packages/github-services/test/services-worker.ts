// Runs services in a process of its own until it is killed: `services-worker.ts CACHE-DIR ARTIFACT-DIR`. Prints their
// environment.
import { startServices } from "../src/index.ts";

const [cacheDir = "", artifactDir = ""] = process.argv.slice(2);
const services = await startServices({ cacheDir, artifactDir, runId: "17", jobId: "build" });
process.stdout.write(`${JSON.stringify(services.env)}\n`);
