import { tooLarge } from "../http/http-error.ts";

/** A number of bytes that several uploads share. */
export interface Budget {
  /** Sets bytes aside; 413 when there are not so many left. */
  take: (bytes: number) => void;
  giveBack: (bytes: number) => void;
}

/** A budget of so many bytes; `what` is named in the refusal. */
export function createBudget(maxBytes: number, what: string): Budget {
  let used = 0;
  return {
    take: (bytes) => {
      if (used + bytes > maxBytes) throw tooLarge(`${what} may be no more than ${maxBytes} bytes together`);
      used += bytes;
    },
    giveBack: (bytes) => {
      used = Math.max(0, used - bytes);
    },
  };
}
