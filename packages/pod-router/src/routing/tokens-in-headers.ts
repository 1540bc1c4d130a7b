import type { IncomingHttpHeaders } from "node:http";

const TOKEN_HEADERS = ["runner-token", "job-token", "private-token"] as const;

/** The texts in the headers of a request that may be tokens, the one that counts first. */
export function tokensInHeaders(headers: IncomingHttpHeaders): readonly string[] {
  const named = TOKEN_HEADERS.map((name) => headers[name]);
  return [...named, tokenOfAuthorization(headers.authorization)].filter((token) => typeof token === "string");
}

function tokenOfAuthorization(header: string | undefined): string | undefined {
  const { scheme, value } = /^(?<scheme>bearer|basic) +(?<value>\S+)$/i.exec(header ?? "")?.groups ?? {};
  if (scheme === undefined || value === undefined || scheme.toLowerCase() === "bearer") return value;
  // Git and registries send a token as the password of some user.
  const pair = Buffer.from(value, "base64").toString("latin1");
  const colon = pair.indexOf(":");
  return colon < 0 ? undefined : pair.slice(colon + 1);
}
