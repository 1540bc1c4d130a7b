// A pod in a process of its own, which a test may kill: its options are the first argument, in JSON.
import { servePod } from "../src/index.ts";
import type { PodOptions } from "../src/index.ts";

const { port, ...options } = JSON.parse(process.argv[2] ?? "{}") as PodOptions & { readonly port: number };
const pod = await servePod(options, { port });
process.stdout.write(`${JSON.stringify({ url: pod.url, adminToken: pod.adminToken })}\n`);
process.on("SIGTERM", () => void pod.stop().then(() => process.exit(0)));
