import { createCache, isCacheError } from "../src/index.ts";

// Fetches an image in a process of its own, because Node reads its certificates when it starts.
const [root = "", registry = ""] = process.argv.slice(2);
await using cache = createCache({ root });
try {
  await cache.resolve({ kind: "oci", registry, repository: "g/p", tag: "v1" });
  process.stdout.write("resolved\n");
} catch (error) {
  process.stdout.write(`${isCacheError(error) ? error.code : String(error)}\n`);
}
