import { readFileSync, readlinkSync } from "node:fs";
import { arch, platform, release } from "node:os";
import type { RuntimeRecord } from "@steps/model/event";
import { runtimeVersion } from "@steps/platform/runtime";

let known: RuntimeRecord | undefined;

/** Describes this machine, as far as it can be known cheaply and without starting a process. It is read once. */
export function describeRuntime(): RuntimeRecord {
  known ??= {
    os: platform(),
    arch: arch(),
    kernel: release(),
    osRelease: osRelease(),
    libc: libc(),
    node: runtimeVersion(),
    timezone: timezone(),
    umask: process.umask().toString(8).padStart(4, "0"),
  };
  return known;
}

// Intl knows it too, but takes longer to wake up than a whole step.
function timezone(): string {
  const set = process.env["TZ"];
  if (set !== undefined && set !== "") return set.replace(/^:/, "");
  try {
    return /zoneinfo\/(.+)$/.exec(readlinkSync("/etc/localtime"))?.[1] ?? "";
  } catch {
    // A system without the link keeps universal time, or a copy of a zone that has no name.
    return "";
  }
}

function osRelease(): string {
  const text = head("/etc/os-release");
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, "m").exec(text)?.[1] ?? "";
  return [field("ID"), field("VERSION_ID")].filter((part) => part !== "").join(" ");
}

// ldd is a shell script that carries the version of the C library it belongs to.
function libc(): string {
  const text = head("/usr/bin/ldd");
  const glibc = /GLIBC ([0-9][^)\s]*)/.exec(text)?.[1];
  if (glibc !== undefined) return `glibc ${glibc}`;
  return /musl/i.test(text) ? "musl" : "";
}

function head(path: string): string {
  try {
    return readFileSync(path, "latin1").slice(0, 8192);
  } catch {
    // Not there on every system; the field stays empty.
    return "";
  }
}
