import type { IncomingMessage } from "node:http";
import { plainAddress } from "../clients/client-address.ts";

/** Headers that are about one connection, by RFC 9110, and what belongs to them. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Those that the router writes itself. The length is among them, so that no `Connection` can take it from its body. */
const REPLACED: ReadonlySet<string> = new Set([
  "content-length",
  "host",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
]);
const NONE: ReadonlySet<string> = new Set();

/** The headers of a message that are passed on, as pairs in a row, with the spelling and the order that they came with. */
export function passedHeaders(rawHeaders: readonly string[], others: ReadonlySet<string> = NONE): string[] {
  const passed: string[] = [];
  const named = new Set<string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === "connection")
      for (const name of namesIn(rawHeaders[at + 1] ?? "")) named.add(name);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    const key = name.toLowerCase();
    if (!HOP_BY_HOP.has(key) && !others.has(key) && !named.has(key)) passed.push(name, value);
  }
  return passed;
}

/** The headers that the value of `Connection` names. */
function namesIn(connection: string): readonly string[] {
  return connection.split(",").map((name) => name.trim().toLowerCase());
}

/** The headers of a request for a pod without its framing: those of the client, the host of the pod, and where it came from. */
export function requestHeaders({ rawHeaders, headers, socket }: IncomingMessage, host: string): string[] {
  const kept = passedHeaders(rawHeaders, REPLACED);
  const before = headers["x-forwarded-for"];
  const address = plainAddress(socket.remoteAddress ?? "unknown");
  const addresses = [...(before === undefined ? [] : [before].flat()), address].join(", ");
  kept.push("Host", host, "X-Forwarded-For", addresses);
  kept.push("X-Forwarded-Host", [headers["x-forwarded-host"] ?? headers.host ?? host].flat().join(", "));
  kept.push("X-Forwarded-Proto", [headers["x-forwarded-proto"] ?? "http"].flat().join(", "));
  return kept;
}
