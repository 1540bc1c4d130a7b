import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ComponentRequest, createCache } from "@steps/cache";
import { buildImageArchive } from "@steps/publish";
import { createGitRepository } from "@steps/testkit";
import { serveLayout } from "../layout-registry.ts";
import { absolute, median, type Row } from "../measure.ts";

const ROUNDS = 50;
const STEP = "spec: {}\n---\nexec: {command: [echo, hi]}\n";
const PARTS = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`steps/part${i}.sh`, `echo ${i}\n`]));

/**
 * Pinned components that are in the cache: each round is a new job, and there is nobody that it could ask. A process reads
 * and proves a component in full when it first uses it, and looks whether it changed when it does so again.
 */
export async function warmComponent(scratch: string): Promise<Row[]> {
  const root = join(scratch, "cache");
  const git = await fetchRepository(scratch, root);
  const image = await fetchImage(scratch, root);
  return [
    await measure("warm git component, first use", { root, request: git, verify: "always", limit: 6 }),
    await measure("warm git component, used before", { root, request: git, verify: "auto", limit: 2 }),
    await measure("warm image component, first use", { root, request: image, verify: "always", limit: 20 }),
    await measure("warm image component, used before", { root, request: image, verify: "auto", limit: 2 }),
  ];
}

async function fetchRepository(scratch: string, root: string): Promise<ComponentRequest> {
  const dir = join(scratch, "repository");
  mkdirSync(dir);
  const repository = await createGitRepository(dir, { "steps/step.yml": STEP, ...PARTS });
  const request = { kind: "git", url: `file://${dir}`, version: await repository.revision() } as const;
  await using cold = createCache({ root });
  await cold.resolve(request);
  return request;
}

async function fetchImage(scratch: string, root: string): Promise<ComponentRequest> {
  const baseDir = join(scratch, "image");
  mkdirSync(join(baseDir, "steps"), { recursive: true });
  for (const [path, text] of Object.entries({ "step.yml": STEP, ...PARTS })) writeFileSync(join(baseDir, path), text);
  const layout = join(scratch, "layout");
  const { digest } = await buildImageArchive(layout, {
    version: "1.0.0",
    common: { ".": "." },
    platforms: [],
    baseDir,
  });
  await using registry = await serveLayout(layout);
  const request = { kind: "oci", registry: registry.host, repository: "bench/step", tag: digest } as const;
  await using cold = createCache({ root, env: { HOME: scratch } });
  await cold.resolve(request);
  return request;
}

async function measure(
  name: string,
  options: {
    readonly root: string;
    readonly request: ComponentRequest;
    readonly verify: "auto" | "always";
    readonly limit: number;
  },
): Promise<Row> {
  const { root, request, verify, limit } = options;
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await using cache = createCache({ root, verify, env: { PATH: "/nonexistent" } });
    const start = performance.now();
    const found = await cache.resolve(request);
    times.push(performance.now() - start);
    if (!found.fetch.isHit) throw new Error("The component was not in the cache");
  }
  return absolute(name, { measured: median(times), limit, unit: "ms" });
}
