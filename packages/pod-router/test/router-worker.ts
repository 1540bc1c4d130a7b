// A router as a process of its own, which tests kill: node router-worker.ts PORT URL... Its pods have the numbers from 1.
import { startRouter } from "../src/index.ts";
import { configFor } from "./router-config.ts";

const [port, ...urls] = process.argv.slice(2);
const { url } = await startRouter(configFor(urls.map((text) => new URL(text))), { port: Number(port) });
process.stdout.write(`${url}\n`);
