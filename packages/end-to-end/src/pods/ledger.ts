import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** A fact that a runner notes about an attempt at a job before it does anything else, so that it outlives the runner. */
export type LedgerLine = {
  readonly id: number;
  readonly attempt: number;
} & (
  | { readonly saw: "given" | "accepted" | "refused" | "uploaded" | "reset" }
  /** The pod said how many bytes of the trace are stored. */
  | { readonly saw: "stored"; readonly size: number }
  /** The pod took the end of the job, which has this state then. */
  | { readonly saw: "ended"; readonly state: string }
  /** An answer that there must not be. */
  | { readonly saw: "wrong"; readonly what: string }
);

/** Adds a line to the ledger of a runner. */
export function note(file: string, line: LedgerLine): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** Reads the ledgers of all runners. A runner that was killed while it wrote leaves half a line at most. */
export function readLedgers(files: readonly string[]): readonly LedgerLine[] {
  return files
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as LedgerLine];
      } catch {
        return [];
      }
    });
}
