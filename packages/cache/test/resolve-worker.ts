// Resolves components in a process of its own: `resolve-worker.ts ROOT COUNT REQUEST-JSON`. Prints one tree per line.
import { createCache } from "../src/index.ts";
import type { ComponentRequest } from "../src/index.ts";

const [root, count, request] = process.argv.slice(2) as [string, string, string];
const parsed = JSON.parse(request) as ComponentRequest;
const caches = Array.from({ length: 5 }, () => createCache({ root }));
const resolved = await Promise.all(
  Array.from({ length: Number(count) }, async (_, index) => await caches[index % caches.length]?.resolve(parsed)),
);
process.stdout.write(resolved.map((component) => `${component?.dir}\n`).join(""));
await Promise.all(caches.map((cache) => cache[Symbol.asyncDispose]()));
