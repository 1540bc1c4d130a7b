import { closeSync, constants } from "node:fs";
import { bun } from "./engine.ts";

/** The two ends of a pipe: descriptors of ours, which no program that we start gets. */
export interface Pipe {
  /** Reads without waiting (`O_NONBLOCK`). */
  readonly reader: number;
  readonly writer: number;
}

/** The functions of the system's C library that Bun can call. */
interface ForeignCalls {
  dlopen(
    library: string,
    functions: {
      readonly pipe2: { readonly args: readonly ["ptr", "i32"]; readonly returns: "i32" };
      readonly fcntl: { readonly args: readonly ["i32", "i32", "i32"]; readonly returns: "i32" };
    },
  ): { readonly symbols: Calls };
}

interface Calls {
  pipe2(ends: Int32Array, flags: number): number;
  fcntl(fd: number, command: number, value: number): number;
}

// Linux has the same numbers on all processors that the executable is made for.
const O_CLOEXEC = 0o2000000;
const F_SETFL = 4;

let calls: Calls | undefined;
const ends = new Int32Array(2);

/** Makes a pipe that has no name. `undefined` under Node, which has no call for it, and where no descriptors are left. */
export function makePipe(): Pipe | undefined {
  if (bun === undefined) return undefined;
  try {
    calls ??= open();
    if (calls.pipe2(ends, O_CLOEXEC) !== 0) return undefined;
    const [reader = -1, writer = -1] = ends;
    if (calls.fcntl(reader, F_SETFL, constants.O_NONBLOCK) === 0) return { reader, writer };
    closeSync(reader);
    closeSync(writer);
    return undefined;
  } catch {
    // The system lets this process make no code, or has its library under another name.
    return undefined;
  }
}

function open(): Calls {
  const module = process.getBuiltinModule("bun:ffi") as unknown as ForeignCalls;
  // musl takes this name for its own library, too.
  return module.dlopen("libc.so.6", {
    pipe2: { args: ["ptr", "i32"], returns: "i32" },
    fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
  }).symbols;
}
