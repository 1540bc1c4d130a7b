import type { KubernetesAccess } from "../access/kubernetes-access.ts";
import { KubernetesError } from "../kubernetes-error.ts";

const DNS_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/u;

/** A pod of a namespace, and one of its containers. */
export interface PodTarget {
  readonly namespace: string;
  readonly pod: string;
  /** The name of the container. Undefined: the only one; it is needed in a pod of several. */
  readonly container: string | undefined;
}

/** The pod and its container, as messages name them: `pod "ci/job/build"`. */
export function podName({ namespace, pod, container }: PodTarget): string {
  return `pod ${JSON.stringify(`${namespace}/${pod}${container === undefined ? "" : `/${container}`}`)}`;
}

/** The address of the pod in the API. */
export function podUrl(access: KubernetesAccess, { namespace, pod }: PodTarget): URL {
  const url = new URL(access.server);
  const path = `api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
  url.pathname = `${url.pathname.replace(/\/$/u, "")}/${path}`;
  return url;
}

/** @throws {KubernetesError} ADDRESS_INVALID for a name that nothing in a cluster can have */
export function checkPodNames(names: Readonly<Record<"namespace" | "pod" | "container", string | undefined>>): void {
  for (const [what, name] of Object.entries(names)) {
    if (name === undefined || DNS_NAME.test(name)) continue;
    throw new KubernetesError("ADDRESS_INVALID", `${JSON.stringify(name)} cannot be the name of a ${what}`);
  }
}
