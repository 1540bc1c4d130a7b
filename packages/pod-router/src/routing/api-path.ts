/** The path of a request as a router reads it. */
export interface ApiPath {
  /** The pod that the prefix `/pods/NUMBER` names. */
  readonly pod?: number | undefined;
  /** The path that the pod is asked for: the path without that prefix, with its query. */
  readonly target: string;
  /** The job, pipeline, runner or project whose id the path has. */
  readonly id?: number | undefined;
}

/** Reads the target of a request, as it stands in its first line. Nothing of it is decoded: the pod gets what the client wrote. */
export function readApiPath(requestTarget: string): ApiPath {
  const path = requestTarget.replace(/^https?:\/\/[^/?#]*/i, "");
  const prefix = /^\/pods\/(\d{1,10})(?=[/?]|$)/.exec(path);
  const rest = prefix === null ? path : path.slice(prefix[0].length);
  const target = rest.startsWith("/") ? rest : `/${rest}`;
  const id = /^\/api\/(?:v4\/(?:jobs|runners)|pod\/v1\/[a-z]+)\/(\d{1,16})(?=[/?]|$)/.exec(target)?.[1];
  return {
    pod: prefix === null ? undefined : Number(prefix[1]),
    target,
    id: id === undefined ? undefined : Number(id),
  };
}

/**
 * Whether a path is that of the figures of a pod, which are for those who can reach the pod itself. A pod takes its own prefix off,
 * and a last slash.
 */
export function isForInside(target: string): boolean {
  return /^(?:\/pods\/\d+)*\/metrics\/?(?:\?|$)/.test(target);
}

/** Whether the token of a request may be in its body: a small message of JSON on one of the few paths that had it there first. */
export function mayHaveTokenInBody(method: string, target: string): boolean {
  const [path = ""] = target.split("?", 1);
  const call = `${method} ${path.replace(/\/$/, "")}`;
  return (
    /^(?:POST|DELETE) \/api\/v4\/runners$/.test(call) ||
    /^POST \/api\/v4\/(?:runners\/verify|runners\/reset_authentication_token|jobs\/request)$/.test(call) ||
    call === "DELETE /api/v4/runners/managers" ||
    /^PUT \/api\/v4\/jobs\/\d+$/.test(call)
  );
}
