import { createHmac, timingSafeEqual } from "node:crypto";
import { hashToken } from "@steps/pod-tokens";
import { tokensOf } from "@steps/runner-api";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";

/**
 * The token by which a pod and its daemon know each other, in both directions. The daemon makes it from its secret and the number of the
 * pod, so that it keeps none of them, and a pod that loses its own opens no other.
 */
export function linkTokenOf(secret: string, pod: number): string {
  return `podlink-${createHmac("sha256", secret).update(`pod ${pod}`).digest("base64url")}`;
}

/** Lets only the other end of a link pass. @throws {HttpError} 401 */
export function requireLink(exchange: Exchange, token: string): void {
  const wanted = Buffer.from(hashToken(token));
  const isKnown = tokensOf(exchange.headers).some((text) => timingSafeEqual(Buffer.from(hashToken(text)), wanted));
  if (!isKnown) throw new HttpError(401, "401 Unauthorized");
}
