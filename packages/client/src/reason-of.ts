import { ConnectError } from "@connectrpc/connect";
import { messageOf } from "@steps/model";

/** Returns the message of an error for people, without the code that the library puts in front of it. */
export function reasonOf(error: unknown): string {
  return error instanceof ConnectError ? error.rawMessage : messageOf(error);
}
