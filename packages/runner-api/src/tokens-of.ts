import { HEADERS } from "./names.ts";

/**
 * The tokens that a request has, the one that counts first: that of the body, then those of the headers. GitLab looks at
 * the body first, and clients of all ages send them in different places. Of `Authorization` a `Bearer` token is taken.
 */
export function tokensOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body?: { readonly token?: string | undefined },
): readonly string[] {
  const bearer = /^Bearer ([\u0021-\u007E]+)$/iu.exec(first(headers["authorization"]) ?? "")?.[1];
  const named = [HEADERS.runnerToken, HEADERS.jobToken, HEADERS.privateToken].map((name) => first(headers[name]));
  const all = [body?.token, ...named, bearer].filter((token) => token !== undefined && token !== "");
  return [...new Set(all as string[])];
}

function first(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.[0];
}
