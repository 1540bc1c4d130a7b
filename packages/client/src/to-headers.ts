import type { IncomingHttpHeaders } from "node:http2";

/** Adds headers as Node has them to headers as the web has them, without those of HTTP/2 itself. */
export function toHeaders(headers: IncomingHttpHeaders, target: Headers = new Headers()): Headers {
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) target.append(name, one);
  }
  return target;
}
