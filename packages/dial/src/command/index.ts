export { dialCommand, type CommandTarget } from "./stdio.ts";
