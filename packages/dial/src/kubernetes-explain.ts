import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { printable } from "./bounded-text.ts";
import { codeOf } from "./connect-error.ts";
import { DialError } from "./dial-error.ts";
import type { KubernetesAccess } from "./kubernetes-access.ts";
import type { ExecTarget, HttpRefusal } from "./kubernetes-exec.ts";
import { explainPod } from "./kubernetes-pod.ts";
import type { KubernetesStream } from "./kubernetes-stream.ts";

const OUTCOME_WAIT_MS = 2000;

/** Where something was tried. */
export interface ExecPlace {
  readonly access: KubernetesAccess;
  readonly target: ExecTarget;
  readonly signal: AbortSignal;
}

/** The pod, as messages name it. */
export function podName({ namespace, pod, container }: ExecTarget): string {
  return `pod ${JSON.stringify(`${namespace}/${pod}${container === undefined ? "" : `/${container}`}`)}`;
}

/** Why there is no connection to the API server. */
export function explainConnection(cause: unknown, server: URL): DialError {
  const where = JSON.stringify(server.host);
  const code = codeOf(cause) ?? "";
  const text = cause instanceof Error ? printable(cause.message).slice(0, 500) : "unknown error";
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|HOSTNAME_MISMATCH/u.test(code)) {
    return new DialError("DENIED", `The TLS connection to the Kubernetes server ${where} failed: ${text}`, { cause });
  }
  if (/subprotocol|Sec-WebSocket|Invalid Upgrade/u.test(text)) {
    return new DialError("PROTOCOL", `The server ${where} does not speak Kubernetes exec over WebSocket: ${text}`, {
      cause,
    });
  }
  return new DialError("UNREACHABLE", `Connecting to the Kubernetes server ${where} failed: ${text}`, { cause });
}

/** Why the server did not open the connection that was asked for. */
export async function explainRefusal(refusal: HttpRefusal, place: ExecPlace): Promise<DialError> {
  const { statusCode, message } = refusal;
  const what = `Kubernetes refused exec in ${podName(place.target)}: ${message}`;
  if (statusCode === 401)
    return new DialError("DENIED", what, { hint: "The credentials are missing, wrong or too old" });
  if (statusCode === 403)
    return new DialError("DENIED", what, { hint: 'Give the user the verbs get and create of "pods/exec"' });
  const reason = await explainPod(place.access, place.target, { signal: place.signal });
  if (reason !== undefined) return reason;
  if (statusCode === 404) return new DialError("NOT_FOUND", what);
  if (statusCode === 400) return new DialError("ADDRESS_INVALID", what);
  if (statusCode >= 500 || statusCode === 429 || statusCode === 408) return new DialError("UNREACHABLE", what);
  return new DialError("PROTOCOL", `${what} (HTTP status ${statusCode})`);
}

/** Waits a moment for how the program ended: its output comes before its status. */
export async function untilOutcome(stream: KubernetesStream, signal: AbortSignal): Promise<void> {
  if (stream.outcome !== undefined || stream.destroyed) return;
  stream.resume();
  const timeout = new AbortController();
  const over = once(stream, "outcome", { signal: AbortSignal.any([signal, timeout.signal]) });
  try {
    await Promise.race([over, delay(OUTCOME_WAIT_MS, undefined, { signal: timeout.signal })]);
  } catch (cause) {
    void cause;
  } finally {
    timeout.abort();
    over.catch(() => undefined);
  }
}

/** Why the program is not a way to the service; `text` is what it printed instead. */
export async function explainEnd(
  stream: KubernetesStream,
  { text, name, place }: { text: string; name: string; place: ExecPlace },
): Promise<DialError> {
  await untilOutcome(stream, place.signal);
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
    const reason = await explainPod(place.access, place.target, { signal: place.signal });
    return (
      reason ?? new DialError("UNREACHABLE", `${name} could not be run: ${printable(outcome.message).slice(0, 1000)}`)
    );
  }
  return new DialError("NO_SERVICE", `${name} has no service behind it, ${stream.describeEnd()}${said}`);
}
