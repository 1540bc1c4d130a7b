import type { Duplex } from "node:stream";
import type { BoundedText } from "@steps/model/bounded-text";

/** How a call of the exec sub-resource ended. */
export type ExecOutcome =
  | { readonly kind: "exited"; readonly exitCode: number }
  /** The cluster could not run the program, or lost it. */
  | { readonly kind: "failed"; readonly reason: string; readonly message: string }
  /** The connection ended before the status came: nobody knows how the program ended. */
  | { readonly kind: "lost"; readonly message: string };

/** The stdin and stdout of a program in a container. */
export interface ExecStream extends Duplex {
  /** How it ended; undefined while it has not. Setting it is told by the event `outcome`. */
  readonly outcome: ExecOutcome | undefined;
  /** The beginning and the end of what the program said on stderr. */
  readonly stderr: BoundedText;
  /** Makes any end other than a clean one an error from now on. */
  establish(): void;
  /** How it ended, with what the program said on stderr. */
  describeEnd(): string;
}

/** The part of a `metav1.Status` that counts. */
export interface KubernetesStatus {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** The value of the cause `ExitCode`; undefined if the status has none. */
  readonly exitCode: number | undefined;
}

/** Reads a `metav1.Status` from JSON; undefined when the text is not one (or not yet whole). */
export function parseStatus(text: string): KubernetesStatus | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { status, reason, message, details } = value as Record<string, unknown>;
  if (typeof status !== "string") return undefined;
  return { status, reason: asText(reason), message: asText(message), exitCode: exitCodeOf(details) };
}

/** Reads from the status on channel 3 how the program ended. */
export function outcomeOf(status: KubernetesStatus): ExecOutcome {
  if (status.status === "Success") return { kind: "exited", exitCode: 0 };
  if (status.reason === "NonZeroExitCode" && status.exitCode !== undefined) {
    return { kind: "exited", exitCode: status.exitCode };
  }
  return { kind: "failed", reason: status.reason, message: status.message };
}

/** Whether the program itself is missing: exit code 126 or 127, or what container runtimes say instead. */
export function isMissingProgram(outcome: ExecOutcome): boolean {
  if (outcome.kind === "exited") return outcome.exitCode === 126 || outcome.exitCode === 127;
  return outcome.kind === "failed" && MISSING.test(outcome.message);
}

const MISSING =
  /executable file not found|(?:exec|stat)\b[^\n]*(?:no such file or directory|permission denied|not found)/iu;

function exitCodeOf(details: unknown): number | undefined {
  const causes = typeof details === "object" && details !== null ? (details as Record<string, unknown>)["causes"] : [];
  for (const cause of Array.isArray(causes) ? (causes as unknown[]) : []) {
    if (typeof cause !== "object" || cause === null) continue;
    const { reason, message } = cause as Record<string, unknown>;
    if (reason === "ExitCode" && typeof message === "string" && /^\d{1,3}$/u.test(message)) return Number(message);
  }
  return undefined;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
