import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { bootId, readProcessStat } from "./process-stat.ts";

/** Identifies a process for ever, so that others can tell whether the holder of a lock, a lease or a folder is gone. */
export interface ProcessIdentity {
  readonly host: string;
  /** Kernel's boot id, empty where there is none. */
  readonly boot: string;
  /** Pid namespace: the same pid means nothing in another container. */
  readonly namespace: string;
  readonly pid: number;
  /** Start time in kernel ticks: a reused pid has another. Empty where unknown. */
  readonly startTime: string;
}

let own: ProcessIdentity | undefined;

/** The identity of this process. */
export function processIdentity(): ProcessIdentity {
  own ??= {
    host: hostname(),
    boot: bootId(),
    namespace: namespaceOf(),
    pid: process.pid,
    startTime: readProcessStat(process.pid)?.startTime ?? "",
  };
  return own;
}

/** Whether a process is certainly gone, certainly alive, or cannot be seen from here. */
export function livenessOf(owner: ProcessIdentity): "alive" | "gone" | "unknown" {
  const self = processIdentity();
  if (owner.boot !== self.boot) return owner.host === self.host ? "gone" : "unknown";
  if (owner.namespace !== self.namespace || (self.boot === "" && owner.host !== self.host)) return "unknown";
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return "gone";
  }
  const startTime = readProcessStat(owner.pid)?.startTime ?? "";
  return owner.startTime !== "" && startTime !== owner.startTime ? "gone" : "alive";
}

/** An identity as a file name: `boot.namespace.pid.start.host`; `parseIdentity()` reads it back. */
export function formatIdentity(identity: ProcessIdentity): string {
  const host = Buffer.from(identity.host).toString("hex").slice(0, 128);
  return [identity.boot, identity.namespace, identity.pid, identity.startTime, host].join(".");
}

/** Reads what `formatIdentity()` wrote; what follows a further point is ignored. */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [boot, namespace, pid, startTime, host] = text.split(".");
  if (boot === undefined || namespace === undefined || startTime === undefined || host === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(pid ?? "")) return undefined;
  return { boot, namespace, pid: Number(pid), startTime, host: Buffer.from(host, "hex").toString() };
}

function namespaceOf(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "");
  } catch {
    // Not Linux, or a restricted /proc: the identity is less exact, and age decides instead.
    return "";
  }
}
