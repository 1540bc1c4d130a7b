/**
 * The machine code of a launcher does the following on either machine:
 *
 * 1. It walks through the environment and puts "%" in place of the first letter of each variable that would change how the
 *    private engine or its loader starts: `LD_*`, `OPENSSL_*`, `BUN_*`, and `NODE_*` except `NODE_EXTRA_CA_CERTS`. They are
 *    meant for the programs of the image, and `readStart()` gives them back to the steps.
 * 2. It reads the link /proc/self/exe, which is its own path without symbolic links, and keeps what is before the last "/".
 * 3. It walks through a table of arguments and writes a pointer for each below the arguments it was given, the last one
 *    first: nothing is copied, so their number does not matter. Its own path comes before them.
 * 4. It starts the program that the last entry names with these arguments. When that fails it says so and ends with 127.
 */
export interface LauncherCode {
  /** The number that ELF gives to the processor. */
  readonly machine: number;
  readonly listing: string;
  /** Texts that follow the code and come before the common ones. */
  readonly texts: readonly string[];
}

/** Texts that follow the code of every launcher; it knows how far away they are. */
export const COMMON_TEXTS: readonly string[] = [
  "/proc/self/exe",
  "step-runner: cannot start ",
  " (error ",
  ")\n  hint: its runtime has to be in a folder beside it that programs may be started from, and /proc has to be there\n",
];

/** One row of a listing. */
export interface Instruction {
  readonly bytes: Uint8Array;
  readonly text: string;
}

/** Reads a listing: rows of bytes, instruction and comment; other rows are labels. */
export function readListing(listing: string): Instruction[] {
  return listing.split("\n").flatMap((row) => {
    const [, hex, text = ""] = /^ {2}((?:[0-9a-f]{2} )+) *([^;]*)/.exec(row) ?? [];
    return hex === undefined ? [] : [{ bytes: Buffer.from(hex.replaceAll(" ", ""), "hex"), text: text.trim() }];
  });
}
