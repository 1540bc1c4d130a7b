import { Code, ConnectError } from "@connectrpc/connect";
import { MAX_DEPTH, MAX_FIELDS } from "./check-message.ts";

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}') as unknown as [
  number, number, number, number, number, number, number]; // oxfmt-ignore

/**
 * Holds JSON to what may be in a request at all, before anything is made of it; whether it is JSON is for its parser.
 *
 * @throws {ConnectError} INVALID_ARGUMENT for more values than a message may have fields, and for deeper nesting
 */
export function checkJson(bytes: Uint8Array): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at + 1);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values++;
        if (++depth > MAX_DEPTH) throw tooMuch(`JSON that is nested deeper than ${MAX_DEPTH} levels`);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth--;
        break;
      case COMMA:
        values++;
        break;
      default:
        continue;
    }
    if (values > MAX_FIELDS) throw tooMuch(`more than ${MAX_FIELDS} values`);
  }
}

/** Returns the offset of the quotation mark that ends a text. */
function endOfText(bytes: Uint8Array, begin: number): number {
  for (let at = begin; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return bytes.length;
}

function tooMuch(what: string): ConnectError {
  return new ConnectError(`A request may not hold ${what}`, Code.InvalidArgument);
}
