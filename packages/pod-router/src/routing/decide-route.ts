import type { IncomingHttpHeaders } from "node:http";
import { podOfId } from "@steps/pod-tokens";
import type { RouterConfig, RouterPod } from "../config/router-config.ts";
import { mayHaveTokenInBody, readApiPath } from "./api-path.ts";
import { podOfToken } from "./pod-of-token.ts";
import { tokensInHeaders } from "./tokens-in-headers.ts";

/** The places that a router takes the number of the pod from, in the order in which it looks. */
export type Evidence = "header" | "prefix" | "id" | "body" | "ticket" | "default";

/** The part of a request that a router decides by. */
export interface RoutedRequest {
  readonly method: string;
  /** As it stands in the first line of the request. */
  readonly target: string;
  /** In lower case, as Node gives them. */
  readonly headers: IncomingHttpHeaders;
  /** The value of the body's JSON; absent while the body has not been read. */
  readonly body?: { readonly value: unknown } | undefined;
}

/** The destination of a request. */
export type Route =
  | { readonly kind: "pod"; readonly pod: RouterPod; readonly by: Evidence; readonly target: string }
  /** The body has to be read first. */
  | { readonly kind: "body" }
  /** Nobody knows, or the pod is none of the configuration. */
  | { readonly kind: "unknown"; readonly number?: number | undefined };

/**
 * Decides where a request goes: a pure function of request and configuration. The first evidence that names a known pod counts:
 * tokens in headers, the prefix of the path, the id in the path, the token in a small body, the ticket in it, and then the default.
 * A request that names only unknown pods goes nowhere.
 */
export function decideRoute(config: RouterConfig, request: RoutedRequest): Route {
  const path = readApiPath(request.target);
  let unknown: number | undefined;
  const known = (number: number | undefined): RouterPod | undefined => {
    const pod = number === undefined ? undefined : config.pods.get(number);
    if (pod === undefined) unknown ??= number;
    return pod;
  };
  const to = (pod: RouterPod, by: Evidence): Route => ({ kind: "pod", pod, by, target: path.target });
  for (const token of tokensInHeaders(request.headers)) {
    const pod = known(podOfToken(token));
    if (pod !== undefined) return to(pod, "header");
  }
  const prefixed = known(path.pod);
  if (prefixed !== undefined) return to(prefixed, "prefix");
  const owner = path.id === undefined ? undefined : ownerOf(config, path.id);
  if (owner !== undefined) return to(owner, "id");
  if (mayHaveTokenInBody(request.method, path.target)) {
    if (request.body === undefined) return { kind: "body" };
    const { token, last_update: ticket } = membersOf(request.body.value);
    const named = typeof token === "string" ? known(podOfToken(token)) : undefined;
    if (named !== undefined) return to(named, "body");
    const ticketed = typeof ticket === "string" ? known(podOfTicket(ticket)) : undefined;
    if (ticketed !== undefined) return to(ticketed, "ticket");
  }
  if (unknown !== undefined || config.defaultPod === undefined) return { kind: "unknown", number: unknown };
  return to(config.defaultPod, "default");
}

/** The pod whose ids the configuration gives, or else the one that made the id if it is a pod of ours. */
function ownerOf({ pods }: RouterConfig, id: number): RouterPod | undefined {
  const ranged = Array.from(pods.values()).find(({ jobs }) => jobs !== undefined && jobs[0] <= id && id <= jobs[1]);
  const maker = pods.get(podOfId(id));
  return ranged ?? (maker?.jobs === undefined ? maker : undefined);
}

function membersOf(value: unknown): { readonly token?: unknown; readonly last_update?: unknown } {
  return typeof value === "object" && value !== null ? value : {};
}

/** The pod of a ticket of a queue, `POD.EPOCH.NUMBER`. */
function podOfTicket(ticket: string): number | undefined {
  const number = /^(\d{1,10})\.[\w-]{1,64}\.\d{1,16}$/.exec(ticket)?.[1];
  return number === undefined ? undefined : Number(number);
}
