export type { Dial } from "./dial.ts";
export { DialError, type DialErrorCode } from "./dial-error.ts";
