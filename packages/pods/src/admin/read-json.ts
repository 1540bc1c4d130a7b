import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";

/** Reads a body that must be JSON. @throws {HttpError} 400, 413 */
export async function readJson(exchange: Exchange, maxBytes: number): Promise<unknown> {
  const body = await exchange.body(maxBytes);
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw new HttpError(400, "The body is no JSON");
  }
}

/** The number of rows that a list has at most: `limit`, 100 unless given, 1000 at the most. */
export function limitOf(exchange: Exchange): number {
  const text = exchange.query.get("limit") ?? "100";
  if (!/^\d{1,6}$/.test(text)) throw new HttpError(400, "limit: a number");
  return Math.min(Number(text), 1000);
}
