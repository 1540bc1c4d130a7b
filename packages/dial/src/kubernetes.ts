import type { Duplex } from "node:stream";
import { DialError } from "./dial-error.ts";
import type { Dial } from "./dial.ts";
import { untilHttp2 } from "./expect-http2.ts";
import { createKubernetesAccess } from "./kubernetes-access.ts";
import type { KubernetesAccess, KubernetesAccessSource } from "./kubernetes-access.ts";
import { openExec } from "./kubernetes-exec.ts";
import type { ExecTarget, HttpRefusal } from "./kubernetes-exec.ts";
import { explainConnection, explainEnd, explainRefusal, podName } from "./kubernetes-explain.ts";
import { isMissingProgram } from "./kubernetes-status.ts";
import { KubernetesStream } from "./kubernetes-stream.ts";

/** A container of a pod that has a step runner in it, and how to reach its cluster. */
export interface KubernetesTarget {
  /** That of the context, or of the service account, or `default`, when absent. */
  readonly namespace?: string;
  readonly pod: string;
  /** Needed in a pod of several. */
  readonly container?: string;
  /** The program that speaks for the service, and its arguments; when absent the usual places are tried. */
  readonly command?: readonly string[];
  /** A context of the kubeconfig; its current one when absent. */
  readonly context?: string;
  /** A file; `KUBECONFIG`, `~/.kube/config` or the service account of this pod when absent. */
  readonly kubeconfig?: string;
  /** For `KUBECONFIG`, `HOME`, `KUBERNETES_SERVICE_HOST` and credential plugins; `process.env` when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Of the upgrade, and of the HTTP/2 server's first word; 30 s when absent. */
  readonly timeoutMs?: number;
  /** 30 s when absent; a server that leaves two pings unanswered is gone. */
  readonly pingIntervalMs?: number;
  /** Where the service account of a pod is. */
  readonly serviceAccountDir?: string;
}

const COMMANDS: ReadonlyArray<readonly string[]> = [
  ["step-runner", "proxy"],
  ["/step-runner", "proxy"],
  ["/opt/gitlab-runner/gitlab-runner-helper", "steps", "proxy"],
  ["gitlab-runner-helper", "steps", "proxy"],
];
const DNS_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u;
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
  const source = createKubernetesAccess({ ...target, env: target.env ?? process.env });
  const commands = target.command === undefined ? COMMANDS : [target.command];
  let found: readonly string[] | undefined;
  return async (signal) => {
    checkNames(target);
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
    );
  };
}

function checkNames({ namespace, pod, container, command }: KubernetesTarget): void {
  for (const [what, name] of Object.entries({ namespace, pod, container })) {
    if (name === undefined || DNS_NAME.test(name)) continue;
    throw new DialError("ADDRESS_INVALID", `${JSON.stringify(name)} cannot be the name of a ${what}`);
  }
  if (command?.length === 0) throw new DialError("ADDRESS_INVALID", "The command of the proxy is empty");
}

interface Attempt {
  readonly target: KubernetesTarget;
  readonly source: KubernetesAccessSource;
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
}

/** The stream, once HTTP/2 arrives on it; "missing" when the program is not there. */
async function dialOnce(attempt: Attempt): Promise<Duplex | "missing"> {
  const { target, argv, signal } = attempt;
  const { access, opened } = await openWithAccess(attempt);
  const place = { access, target: placeOf(access, target), signal };
  if (!(opened instanceof KubernetesStream)) throw await explainRefusal(opened, place);
  const name = nameOf(argv, place.target);
  const silenceMs = Math.min(target.timeoutMs ?? TIMEOUT_MS, SILENCE_MS);
  try {
    const explain = (text: string): Promise<DialError> => explainEnd(opened, { text, name, place });
    const duplex = await untilHttp2(opened, explain, { signal, silenceMs });
    if (duplex === opened) opened.establish();
    return duplex;
  } catch (error) {
    opened.destroy();
    signal.throwIfAborted();
    if (opened.outcome !== undefined && isMissingProgram(opened.outcome)) return "missing";
    throw error;
  }
}

type Opened = { readonly access: KubernetesAccess; readonly opened: KubernetesStream | HttpRefusal };

/** Once more when what a credential plugin gave is refused: it may have newer credentials. */
async function openWithAccess(attempt: Attempt): Promise<Opened> {
  const first = await openFresh(attempt);
  const { access, opened } = first;
  if (opened instanceof KubernetesStream || opened.statusCode !== 401 || !access.isFromPlugin) return first;
  attempt.source.forget();
  return openFresh(attempt);
}

async function openFresh({ target, source, argv, signal }: Attempt): Promise<Opened> {
  signal.throwIfAborted();
  const access = await source.resolve(signal);
  const place = placeOf(access, target);
  const { timeoutMs = TIMEOUT_MS, pingIntervalMs = PING_INTERVAL_MS } = target;
  try {
    const options = { argv, name: nameOf(argv, place), timeoutMs, pingIntervalMs, signal };
    return { access, opened: await openExec(access, place, options) };
  } catch (cause) {
    signal.throwIfAborted();
    throw explainConnection(cause, access.server);
  }
}

function placeOf(
  access: KubernetesAccess,
  { namespace = access.namespace, pod, container }: KubernetesTarget,
): ExecTarget {
  return { namespace, pod, container };
}

function nameOf(argv: readonly string[], place: ExecTarget): string {
  return `${JSON.stringify(argv.join(" "))} in ${podName(place)}`;
}
