import { StepsError } from "@steps/model";

/**
 * Why something could not be done in a cluster: nobody answers there now (`UNREACHABLE`), we may not (`DENIED`), the pod or the
 * container does not exist (`NOT_FOUND`), a name or the configuration makes no sense (`ADDRESS_INVALID`), or the other side
 * spoke something else than it should (`PROTOCOL`).
 */
export type KubernetesErrorCode = "UNREACHABLE" | "DENIED" | "NOT_FOUND" | "ADDRESS_INVALID" | "PROTOCOL";

/** A call to a cluster failed, or a connection was lost. Messages never hold credentials. */
export class KubernetesError extends StepsError<KubernetesErrorCode> {}
