/** A process with a service on the socket that is named first, and its state in the folder named second. */
import { createService, openJobTable } from "../src/index.ts";
import { listenUnix } from "../src/listen/index.ts";

const [socket = "", dir = ""] = process.argv.slice(2);
const jobs = await openJobTable({
  stateDir: `${dir}/state`,
  cacheDir: `${dir}/cache`,
  runner: { name: "test", version: "1" },
});
await listenUnix(createService({ jobs, workDir: dir, log: (_, line) => process.stderr.write(`${line}\n`) }), socket);
process.stdout.write("ready\n");
process.once("SIGINT", () => process.exit(0));
