import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What tells this process from all others on this system, in characters of a file name: `boot.namespace.pid.start`. */
export function ownIdentity(): string {
  return [systemOf(), process.pid, startTimeOf(process.pid)].join(".");
}

/**
 * Whether the process that `ownIdentity()` named is certainly gone, certainly alive, or cannot be seen from here (another
 * host or container that shares the folder). Text behind a further point is ignored.
 */
export function livenessOf(identity: string): "alive" | "gone" | "unknown" {
  const [boot, namespace, pidText, startTime] = identity.split(".");
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0 || `${boot}.${namespace}` !== systemOf()) return "unknown";
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: there is one, and it is not ours to ask.
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "alive" : "gone";
  }
  // A number that was given to another process since has another start.
  return startTimeOf(pid) === startTime ? "alive" : "gone";
}

let system: string | undefined;

function systemOf(): string {
  system ??= [
    readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")) || Buffer.from(hostname()).toString("hex"),
    readOr(() => readlinkSync("/proc/self/ns/pid")),
  ]
    .map((part) => part.replaceAll(/[^\w-]/g, "").slice(0, 64))
    .join(".");
  return system;
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
  } catch (cause) {
    // Not Linux, or a restricted /proc: the identity is less exact, and age decides instead.
    void cause;
    return "";
  }
}
