import type { Exchange } from "./exchange.ts";

/** Answers a request; the texts are those that the pattern's groups matched. */
export type Handler = (exchange: Exchange, params: readonly string[]) => Promise<void>;

/** A request and what answers it. */
export interface Route {
  readonly method: string;
  /** The path as it was given to `route()`: the name of the route. */
  readonly path: string;
  /** Matches the whole path. */
  readonly pattern: RegExp;
  readonly handle: Handler;
}

/** Makes a route of a path in which `:id` stands for a number and `:name` for one part. */
export function route(method: string, path: string, handle: Handler): Route {
  const source = path.replaceAll(".", "\\.").replaceAll(":id", "([1-9]\\d{0,15})").replaceAll(":name", "([^/]{1,255})");
  return { method, path, pattern: new RegExp(`^${source}/?$`), handle };
}

/** Finds what answers a request: undefined for a path that nobody knows, `"method"` for one that is known with others. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { readonly route: Route; readonly params: readonly string[] } | "method" | undefined {
  let isKnown = false;
  for (const each of routes) {
    const found = each.pattern.exec(path);
    if (found === null) continue;
    if (each.method === method) return { route: each, params: found.slice(1) };
    isKnown = true;
  }
  return isKnown ? "method" : undefined;
}
