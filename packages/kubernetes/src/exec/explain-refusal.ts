import { printable } from "@steps/model/bounded-text";
import { KubernetesError } from "../kubernetes-error.ts";
import type { KubernetesAccess } from "../access/kubernetes-access.ts";
import type { HttpRefusal } from "./open-exec.ts";
import { explainPod } from "../pod/explain-pod.ts";
import { podName, type PodTarget } from "../pod/pod-target.ts";

/** The pod where something was tried, and the way there. */
export interface ExecPlace {
  readonly access: KubernetesAccess;
  readonly target: PodTarget;
  readonly signal: AbortSignal;
}

/** Why there is no connection to the API server. */
export function explainConnection(cause: unknown, server: URL): KubernetesError {
  const where = JSON.stringify(server.host);
  const { code = "" } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : {};
  const text = cause instanceof Error ? printable(cause.message).slice(0, 500) : "unknown error";
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|HOSTNAME_MISMATCH/u.test(code)) {
    return new KubernetesError("DENIED", `The TLS connection to the Kubernetes server ${where} failed: ${text}`, {
      cause,
    });
  }
  if (/subprotocol|Sec-WebSocket|Invalid Upgrade/u.test(text)) {
    return new KubernetesError(
      "PROTOCOL",
      `The server ${where} does not speak Kubernetes exec over WebSocket: ${text}`,
      {
        cause,
      },
    );
  }
  return new KubernetesError("UNREACHABLE", `Connecting to the Kubernetes server ${where} failed: ${text}`, { cause });
}

/** Why the server did not open the connection that was asked for. */
export async function explainRefusal(refusal: HttpRefusal, place: ExecPlace): Promise<KubernetesError> {
  const { statusCode, message } = refusal;
  const what = `Kubernetes refused exec in ${podName(place.target)}: ${message}`;
  if (statusCode === 401)
    return new KubernetesError("DENIED", what, { hint: "The credentials are missing, wrong or too old" });
  if (statusCode === 403)
    return new KubernetesError("DENIED", what, { hint: 'Give the user the verbs get and create of "pods/exec"' });
  const reason = await explainPod(place.access, place.target, { signal: place.signal });
  if (reason !== undefined) return reason;
  if (statusCode === 404) return new KubernetesError("NOT_FOUND", what);
  if (statusCode === 400) return new KubernetesError("ADDRESS_INVALID", what);
  if (statusCode >= 500 || statusCode === 429 || statusCode === 408) return new KubernetesError("UNREACHABLE", what);
  return new KubernetesError("PROTOCOL", `${what} (HTTP status ${statusCode})`);
}
