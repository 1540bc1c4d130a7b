import type { Duplex } from "node:stream";
import type { ExecSession, KubernetesAccessSource } from "@steps/kubernetes";
import { createKubernetesAccess, isMissingProgram, KubernetesError, startExec } from "@steps/kubernetes";
import { DialError } from "../dial-error.ts";
import type { Dial } from "../dial.ts";
import { untilHttp2 } from "../expect-http2.ts";
import { PROXY_COMMANDS } from "../proxy.ts";
import { explainEnd, toDialError } from "./explain-end.ts";

/** A container of a pod that has a step runner in it, and how to reach its cluster. */
export interface KubernetesTarget {
  /** The namespace of the pod. Default: that of the context or of the service account, else `default`. */
  readonly namespace?: string;
  readonly pod: string;
  /** The name of the container. It is needed in a pod of several. */
  readonly container?: string;
  /** The program that speaks for the service, and its arguments; when absent the usual places are tried. */
  readonly command?: readonly string[];
  /** A context of the kubeconfig; its current one when absent. */
  readonly context?: string;
  /** A file; `KUBECONFIG`, `~/.kube/config` or the service account of this pod when absent. */
  readonly kubeconfig?: string;
  /**
   * The environment for `KUBECONFIG`, `HOME`, `KUBERNETES_SERVICE_HOST` and credential plugins. Default: `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long the upgrade and the first frame of the HTTP/2 server may take, in milliseconds. Default: 30 s. */
  readonly timeoutMs?: number;
  /** 30 s when absent; a server that leaves two pings unanswered is gone. */
  readonly pingIntervalMs?: number;
  /** The folder of the pod's service account. */
  readonly serviceAccountDir?: string;
}

const TIMEOUT_MS = 30_000;
/** A server of HTTP/2 need not speak first: after so long the look at its first bytes is left for later. */
const SILENCE_MS = 10_000;
const PING_INTERVAL_MS = 30_000;

/**
 * Dials through the exec sub-resource of a pod (WebSocket, `v5.channel.k8s.io` or v4), as `kubectl exec -i` does: in the
 * container a proxy connects its stdin and stdout with the service. Configuration is read as kubectl does, at each dial. Needs
 * the right to `get` (newer servers: `create`) `pods/exec`; that to `get` `pods` makes messages better.
 *
 * Rejects with DENIED (401, 403), NOT_FOUND (pod or container is not there, or has ended), UNREACHABLE (server or pod not
 * there yet, connection lost), NO_SERVICE (no proxy in the container, or no service behind it; with its stderr),
 * ADDRESS_INVALID (a name or the configuration), PROTOCOL (no Kubernetes, no HTTP/2).
 */
export function dialKubernetes(target: KubernetesTarget): Dial {
  const { kubeconfig, context, serviceAccountDir, env = process.env } = target;
  const source = createKubernetesAccess({ kubeconfig, context, serviceAccountDir, env });
  const commands = target.command === undefined ? PROXY_COMMANDS : [target.command];
  let found: readonly string[] | undefined;
  return async (signal) => {
    if (target.command?.length === 0) throw new DialError("ADDRESS_INVALID", "The command of the proxy is empty");
    const tried: string[] = [];
    for (const argv of new Set(found === undefined ? commands : [found, ...commands])) {
      const result = await dialOnce({ target, source, argv, signal });
      if (result !== "missing") {
        found = argv;
        return result;
      }
      tried.push(JSON.stringify(argv.join(" ")));
    }
    found = undefined;
    throw new DialError(
      "NO_SERVICE",
      `There is no step runner in pod ${JSON.stringify(target.pod)}; tried ${tried.join(", ")}`,
      { hint: "Put step-runner on the PATH of the container, or name the command with --proxy", isPermanent: true },
    );
  };
}

interface Attempt {
  readonly target: KubernetesTarget;
  readonly source: KubernetesAccessSource;
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
}

/** The stream, once HTTP/2 arrives on it; "missing" when the program is not there. */
async function dialOnce(attempt: Attempt): Promise<Duplex | "missing"> {
  const { target, signal } = attempt;
  const session = await openSession(attempt);
  const { stream } = session;
  const silenceMs = Math.min(target.timeoutMs ?? TIMEOUT_MS, SILENCE_MS);
  try {
    const explain = (text: string): Promise<DialError> => explainEnd(session, { text, signal });
    const duplex = await untilHttp2(stream, explain, { signal, silenceMs });
    if (duplex === stream) stream.establish();
    return duplex;
  } catch (error) {
    stream.destroy();
    signal.throwIfAborted();
    if (stream.outcome !== undefined && isMissingProgram(stream.outcome)) return "missing";
    throw error;
  }
}

async function openSession({ target, source, argv, signal }: Attempt): Promise<ExecSession> {
  const { namespace, pod, container, timeoutMs = TIMEOUT_MS, pingIntervalMs = PING_INTERVAL_MS } = target;
  const options = { namespace, pod, container, argv, timeoutMs, pingIntervalMs, signal, toError: toDialError };
  try {
    return await startExec(source, options);
  } catch (error) {
    throw error instanceof KubernetesError ? toDialError(error) : error;
  }
}
