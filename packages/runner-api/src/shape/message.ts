import { RunnerApiError } from "../runner-api-error.ts";
import type { Shape } from "./shape.ts";

/** How a kind of message is read from what others send, and written. */
export interface Message<T> {
  /**
   * Reads a JSON text as Go decodes it: unknown keys are left out, absent and null are the zero value, a wrong type is an
   * error that names the place.
   *
   * @throws {RunnerApiError} MESSAGE_INVALID, MESSAGE_TOO_LARGE
   */
  read(json: string | Uint8Array): T;
  /** The same for what was parsed already. @throws {RunnerApiError} MESSAGE_INVALID, MESSAGE_TOO_LARGE */
  readValue(value: unknown): T;
  /**
   * Writes the JSON text. A key that the API does not have, a wrong type and an unknown word are errors here.
   *
   * @throws {RunnerApiError} MESSAGE_INVALID, MESSAGE_TOO_LARGE
   */
  write(message: T): string;
}

/** A kind of message of at most so many bytes. */
export function messageOf<T>(shape: Shape<T>, maxBytes: number): Message<T> {
  const readValue = (value: unknown): T => shape(value, { path: "", isStrict: false });
  return {
    read: (json) => readValue(parse(json, maxBytes)),
    readValue,
    write(message) {
      const json = JSON.stringify(shape(message, { path: "", isStrict: true }));
      if (Buffer.byteLength(json) > maxBytes) throw tooLarge(maxBytes);
      return json;
    },
  };
}

function parse(json: string | Uint8Array, maxBytes: number): unknown {
  if (json.length > maxBytes) throw tooLarge(maxBytes);
  try {
    return JSON.parse(typeof json === "string" ? json : new TextDecoder().decode(json)) as unknown;
  } catch {
    // The error of the parser quotes the text, which may be a token.
    throw new RunnerApiError("MESSAGE_INVALID", "The message is no JSON");
  }
}

function tooLarge(maxBytes: number): RunnerApiError {
  return new RunnerApiError("MESSAGE_TOO_LARGE", `The message is larger than ${maxBytes} bytes`);
}
