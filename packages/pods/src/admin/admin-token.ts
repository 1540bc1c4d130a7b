import { randomBytes, timingSafeEqual } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashToken } from "@steps/pod-tokens";
import { tokensOf } from "@steps/runner-api";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";

/** The address of a running pod, and the token that opens its admin API; kept in its state directory for the user alone. */
export interface PodAddress {
  readonly url: string;
  readonly token: string;
}

const FILE = "admin.json";
const TOKEN_FILE = "admin-token";

/** Makes the token of a pod's admin API, or takes the one that the state directory has; processes that share it have one. */
export function adminToken(stateDir: string): string {
  const path = join(stateDir, TOKEN_FILE);
  const fresh = `${path}.${randomBytes(6).toString("hex")}`;
  writeFileSync(fresh, `pod-${randomBytes(24).toString("base64url")}`, { mode: 0o600 });
  try {
    // A link is made whole, and never in the place of another.
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
  return readFileSync(path, "utf8");
}

/** Writes down where the pod is, for the commands of the same user. */
export function writeAddress(stateDir: string, address: PodAddress): void {
  const path = join(stateDir, FILE);
  const fresh = `${path}.${process.pid}`;
  try {
    writeFileSync(fresh, `${JSON.stringify(address)}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Reads where the pod of a state directory is, or was; undefined when none ever ran there. */
export function readAddress(stateDir: string): PodAddress | undefined {
  try {
    const { url, token } = JSON.parse(readFileSync(join(stateDir, FILE), "utf8")) as Partial<PodAddress>;
    return typeof url === "string" && typeof token === "string" ? { url, token } : undefined;
  } catch {
    return undefined;
  }
}

/** Lets only those pass who have the token: `Authorization: Bearer TOKEN`, or `PRIVATE-TOKEN`. @throws {HttpError} 401 */
export function requireAdmin(exchange: Exchange, token: string): void {
  const wanted = Buffer.from(hashToken(token));
  const given = tokensOf(exchange.headers);
  if (!given.some((text) => timingSafeEqual(Buffer.from(hashToken(text)), wanted)))
    throw new HttpError(401, "401 Unauthorized");
}
