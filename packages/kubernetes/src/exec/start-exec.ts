import { checkOptionNames, type OptionNames } from "@steps/model";
import type { KubernetesAccess, KubernetesAccessSource } from "../access/kubernetes-access.ts";
import type { KubernetesError } from "../kubernetes-error.ts";
import { checkPodNames, podName, type PodTarget } from "../pod/pod-target.ts";
import type { ExecStream } from "./exec-outcome.ts";
import { SocketExecStream } from "./exec-stream.ts";
import { explainConnection, explainRefusal } from "./explain-refusal.ts";
import { type HttpRefusal, openExec } from "./open-exec.ts";

/** A program in a container, and how to talk to it. */
export interface ExecOptions {
  /** The namespace of the context, of the service account, or `default`, when absent. */
  readonly namespace?: string | undefined;
  readonly pod: string;
  /** The name of the container. It is needed in a pod of several containers. */
  readonly container?: string | undefined;
  /** The program and its arguments, of which there is at least one. */
  readonly argv: readonly string[];
  /** How long the server may take to open the connection, in milliseconds. */
  readonly timeoutMs: number;
  /** The time between two pings, in milliseconds; a server that leaves two unanswered is gone. */
  readonly pingIntervalMs: number;
  /** Makes the error that the stream ends with out of ours; ours as it is when absent. */
  readonly toError?: ((error: KubernetesError) => Error) | undefined;
  readonly signal: AbortSignal;
}

/** A program that runs in a container. */
export interface ExecSession {
  readonly stream: ExecStream;
  readonly access: KubernetesAccess;
  readonly target: PodTarget;
  /** The program as messages name it: `"sh -c true" in pod "ci/job"`. */
  readonly name: string;
}

export const EXEC_OPTION_NAMES: OptionNames<ExecOptions> = {
  namespace: true,
  pod: true,
  container: true,
  argv: true,
  timeoutMs: true,
  pingIntervalMs: true,
  toError: true,
  signal: true,
};

/**
 * Starts a program in a container through the exec sub-resource (WebSocket, `v5.channel.k8s.io` or v4), as `kubectl exec -i`
 * does. Needs the right to `get` (newer servers: `create`) `pods/exec`; that to `get` `pods` makes messages better. Credentials
 * of a plugin that are refused are asked for once more, as it may have newer ones.
 *
 * @throws {KubernetesError} DENIED (401, 403), NOT_FOUND (pod or container is not there, or has ended), UNREACHABLE (server or
 * pod not there yet), ADDRESS_INVALID (a name or the configuration), PROTOCOL (no Kubernetes); rejects with the signal's reason
 */
export async function startExec(source: KubernetesAccessSource, options: ExecOptions): Promise<ExecSession> {
  checkOptionNames("startExec()", options, EXEC_OPTION_NAMES);
  const { namespace, pod, container } = options;
  checkPodNames({ namespace, pod, container });
  const first = await openFresh(source, options);
  if (!isRefusal(first.opened) || first.opened.statusCode !== 401 || !first.access.isFromPlugin) {
    return sessionOf(first, options);
  }
  source.forget();
  return sessionOf(await openFresh(source, options), options);
}

interface Attempt {
  readonly access: KubernetesAccess;
  readonly target: PodTarget;
  readonly name: string;
  readonly opened: SocketExecStream | HttpRefusal;
}

async function openFresh(source: KubernetesAccessSource, options: ExecOptions): Promise<Attempt> {
  const { argv, pod, container, signal } = options;
  signal.throwIfAborted();
  const access = await source.resolve(signal);
  const target = { namespace: options.namespace ?? access.namespace, pod, container };
  const name = `${JSON.stringify(argv.join(" "))} in ${podName(target)}`;
  try {
    return { access, target, name, opened: await openExec(access, target, { ...options, name }) };
  } catch (cause) {
    signal.throwIfAborted();
    throw explainConnection(cause, access.server);
  }
}

async function sessionOf({ access, target, name, opened }: Attempt, { signal }: ExecOptions): Promise<ExecSession> {
  if (isRefusal(opened)) throw await explainRefusal(opened, { access, target, signal });
  return { stream: opened, access, target, name };
}

function isRefusal(opened: SocketExecStream | HttpRefusal): opened is HttpRefusal {
  return !(opened instanceof SocketExecStream);
}
