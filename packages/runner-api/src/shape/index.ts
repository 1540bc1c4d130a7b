export { messageOf } from "./message.ts";
export { anything, count, flag, integer, list, number, optional, record, type Shape, text } from "./shape.ts";
