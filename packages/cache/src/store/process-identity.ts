import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Who holds a lock or a lease, so that others can tell whether that process is gone. */
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
    boot: readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    namespace: readOr(() => readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "")),
    pid: process.pid,
    startTime: startTimeOf(process.pid),
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
  const startTime = startTimeOf(owner.pid);
  return owner.startTime !== "" && startTime !== owner.startTime ? "gone" : "alive";
}

/** An identity as a file name; `parseIdentity()` reads it back. */
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

function startTimeOf(pid: number): string {
  // The second field is the program's name in parentheses and may hold spaces and parentheses itself.
  return readOr(() => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  });
}

function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    // Not Linux, or a restricted /proc: the identity is less exact, and age decides instead.
    return "";
  }
}
