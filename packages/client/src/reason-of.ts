import { ConnectError } from "@connectrpc/connect";
import { messageOf } from "@steps/model";

/** What an error says to people, without the code that the library writes before it. */
export function reasonOf(error: unknown): string {
  return error instanceof ConnectError ? error.rawMessage : messageOf(error);
}
