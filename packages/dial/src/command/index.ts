export { DialError } from "../dial-error.ts";
export { dialCommand, type CommandTarget } from "./stdio.ts";
