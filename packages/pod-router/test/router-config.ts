import { ROUTER_DEFAULTS, type RouterConfig } from "../src/index.ts";

/** The configuration of a router for these pods, numbered from 1; the first is the default. */
export function configFor(urls: readonly URL[], more: Partial<RouterConfig> = {}): RouterConfig {
  const pods = new Map(urls.map((url, at) => [at + 1, { number: at + 1, url }]));
  const limits = { ...ROUTER_DEFAULTS, maxRequestsPerPod: 1000, idleTimeoutMs: 20_000 };
  return { pods, defaultPod: pods.get(1), ...limits, ...more };
}
