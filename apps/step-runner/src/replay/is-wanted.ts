import { errors, terminalOf } from "@steps/console/terminal";
import { confirm } from "../confirm.ts";

/** Shows on a terminal what a trace will run, and asks whether it may. */
export async function isWanted({ yes }: { readonly yes: boolean }, plan: string): Promise<boolean> {
  if (yes || !process.stdin.isTTY || !terminalOf(2).isTerminal) return true;
  await errors.write(Buffer.from(plan));
  return confirm("Run this?");
}
