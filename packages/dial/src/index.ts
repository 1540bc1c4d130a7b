export { expectHttp2 } from "./expect-http2.ts";
export type { Dial } from "./dial.ts";
export { DialError, type DialErrorCode } from "./dial-error.ts";
