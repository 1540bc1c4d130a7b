import type { Readable, Writable } from "node:stream";

// Node gives sockets as the streams of a child; Bun gives sinks that never keep a process alive.
type Held = Readonly<Partial<Record<"ref" | "unref", () => void>>>;

/** Lets a stream of a child keep this process alive, until `letGo()`. */
export function holdOpen(stream: Readable | Writable): void {
  (stream as unknown as Held).ref?.call(stream);
}

/** Lets this process end although a stream of a child is open. */
export function letGo(stream: Readable | Writable): void {
  (stream as unknown as Held).unref?.call(stream);
}
