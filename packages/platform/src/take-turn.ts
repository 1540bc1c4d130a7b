import { randomBytes } from "node:crypto";
import { readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makePrivateFolder } from "./private-folder.ts";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "./process-identity.ts";

const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 500;
const HEARTBEAT_MS = 10_000;
/** A ticket of a process that cannot be seen from here counts for this long after its last sign of life. */
const FOREIGN_MS = 60_000;

/** The options of `takeTurn()`. */
export interface TakeTurnOptions {
  /** Ends the waiting; the rejection is the reason of the signal. */
  readonly signal: AbortSignal;
  /** Called once if somebody else has the turn. Default: nobody is told. */
  readonly onWait?: () => void;
}

/**
 * Waits until it is this caller's turn among all callers of all processes that name the same folder, in the order in which they
 * came. Gives the function that ends the turn. The turn of a process that is gone is over.
 *
 * The folder holds a ticket for each caller: its owner's identity and a number above those that were there. A ticket is valid if no
 * higher one was there once it was written; otherwise it is drawn again. The lowest ticket of a living process has the turn. No
 * name is used twice, so anybody may remove the tickets of the dead.
 */
export async function takeTurn(folder: string, { signal, onWait }: TakeTurnOptions): Promise<() => Promise<void>> {
  makePrivateFolder(folder);
  const ticket = await drawTicket(folder);
  const path = join(folder, ticket.name);
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  const leave = async (): Promise<void> => {
    clearInterval(heartbeat);
    await rm(path, { force: true });
  };
  try {
    for (let pollMs = FIRST_POLL_MS; await isBehind(folder, ticket); pollMs = Math.min(pollMs * 2, LAST_POLL_MS)) {
      if (pollMs === FIRST_POLL_MS) onWait?.();
      await delay(pollMs, undefined, { signal });
    }
    signal.throwIfAborted();
    return leave;
  } catch (error) {
    await leave();
    signal.throwIfAborted();
    throw error;
  }
}

interface Ticket {
  readonly name: string;
  readonly number: number;
}

async function drawTicket(folder: string): Promise<Ticket> {
  for (;;) {
    const number = Math.max(0, ...(await ticketsIn(folder)).map((ticket) => ticket.number)) + 1;
    const name = `${formatIdentity(processIdentity())}.${number}.${randomBytes(6).toString("hex")}`;
    await writeFile(join(folder, name), "", { mode: 0o600, flag: "wx" });
    const own = { name, number };
    if (!(await ticketsIn(folder)).some((other) => isBefore(own, other))) return own;
    await rm(join(folder, name), { force: true });
  }
}

async function ticketsIn(folder: string): Promise<Ticket[]> {
  return (await readdir(folder)).flatMap((name) => {
    const number = Number(name.split(".")[5]);
    return Number.isSafeInteger(number) && number > 0 ? [{ name, number }] : [];
  });
}

function isBefore(one: Ticket, other: Ticket): boolean {
  return one.number < other.number || (one.number === other.number && one.name < other.name);
}

async function isBehind(folder: string, own: Ticket): Promise<boolean> {
  const before = (await ticketsIn(folder)).filter((other) => isBefore(other, own));
  const living = await Promise.all(before.map(({ name }) => isLiving(folder, name)));
  return living.includes(true);
}

async function isLiving(folder: string, name: string): Promise<boolean> {
  const path = join(folder, name);
  const owner = parseIdentity(name);
  const liveness = owner === undefined ? "gone" : livenessOf(owner);
  if (liveness === "alive") return true;
  if (liveness === "unknown") {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs < FOREIGN_MS) return true;
  }
  await rm(path, { force: true });
  return false;
}
