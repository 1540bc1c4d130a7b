export { BoundedText, printable } from "./bounded-text.ts";
export type { Dial } from "./dial.ts";
export { DialError, type DialErrorCode } from "./dial-error.ts";
export { expectHttp2, untilHttp2, type Explain } from "./expect-http2.ts";
export { dialCommand, type CommandTarget } from "./stdio.ts";
export { dialUnix, type UnixTarget } from "./unix.ts";
