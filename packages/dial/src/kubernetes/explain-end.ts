import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ExecSession, ExecStream } from "@steps/kubernetes";
import { explainPod, type KubernetesError } from "@steps/kubernetes";
import { printable } from "@steps/model/bounded-text";
import { DialError } from "../dial-error.ts";

const OUTCOME_WAIT_MS = 2000;

/** Why the program is not a way to the service; `text` is what it printed instead. */
export async function explainEnd(
  { stream, access, target, name }: ExecSession,
  { text, signal }: { text: string; signal: AbortSignal },
): Promise<DialError> {
  await untilOutcome(stream, signal);
  const { outcome } = stream;
  const printed = printable(text);
  const said = printed === "" ? "" : ` (it printed ${JSON.stringify(printed.slice(0, 1000))})`;
  if (outcome === undefined) {
    return new DialError("PROTOCOL", `${name} does not speak HTTP/2${said}`, {
      hint: "Is it the proxy of a step runner?",
    });
  }
  if (outcome.kind === "lost") {
    return new DialError("UNREACHABLE", `The connection to ${name} was lost: ${stream.describeEnd()}${said}`);
  }
  if (outcome.kind === "failed") {
    if (outcome.reason === "Forbidden")
      return new DialError("DENIED", `Kubernetes refused ${name}: ${outcome.message}`);
    const reason = await explainPod(access, target, { signal });
    if (reason !== undefined) return toDialError(reason);
    return new DialError("UNREACHABLE", `${name} could not be run: ${printable(outcome.message).slice(0, 1000)}`);
  }
  return new DialError("NO_SERVICE", `${name} has no service behind it, ${stream.describeEnd()}${said}`);
}

/** Waits a moment for how the program ended: its output comes before its status. */
async function untilOutcome(stream: ExecStream, signal: AbortSignal): Promise<void> {
  if (stream.outcome !== undefined || stream.destroyed) return;
  stream.resume();
  const timeout = new AbortController();
  const over = once(stream, "outcome", { signal: AbortSignal.any([signal, timeout.signal]) });
  try {
    await Promise.race([over, delay(OUTCOME_WAIT_MS, undefined, { signal: timeout.signal })]);
  } catch {
  } finally {
    timeout.abort();
    over.catch(() => undefined);
  }
}

/** The same failure as an error of a dial. */
export function toDialError({ code, message, hint, cause }: KubernetesError): DialError {
  return new DialError(code, message, cause === undefined ? { hint } : { hint, cause });
}
