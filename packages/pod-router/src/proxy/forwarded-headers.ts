import type { IncomingMessage } from "node:http";

/** Headers that are about one connection, by RFC 9110, and what belongs to them. */
const HOP_BY_HOP = new Set([
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

/** The headers of a message that are passed on, as pairs in a row, with the spelling and the order that they came with. */
export function passedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (!dropped.has(name.toLowerCase())) passed.push(name, value);
  }
  return passed;
}

/** The headers of a request for a pod: those of the client, the host of the pod, and where the request came from. */
export function requestHeaders(request: IncomingMessage, host: string): string[] {
  const replaced = new Set(["host", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"]);
  const { headers, socket } = request;
  const passed = passedHeaders(request);
  const kept: string[] = [];
  for (let at = 0; at + 1 < passed.length; at += 2) {
    const [name = "", value = ""] = passed.slice(at, at + 2);
    if (!replaced.has(name.toLowerCase())) kept.push(name, value);
  }
  const before = headers["x-forwarded-for"];
  const addresses = [...(before === undefined ? [] : [before].flat()), socket.remoteAddress ?? "unknown"].join(", ");
  kept.push("Host", host, "X-Forwarded-For", addresses);
  kept.push("X-Forwarded-Host", [headers["x-forwarded-host"] ?? headers.host ?? host].flat().join(", "));
  kept.push("X-Forwarded-Proto", [headers["x-forwarded-proto"] ?? "http"].flat().join(", "));
  return kept;
}
