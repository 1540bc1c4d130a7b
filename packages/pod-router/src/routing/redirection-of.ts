import type { RouterConfig, RouterPod } from "../config/router-config.ts";

/**
 * The URL at which the pod itself takes an upload of artifacts, if the router is told to send uploads there. GitLab's runner follows
 * such an answer with its body and its token.
 */
export function redirectionOf(
  { redirectsArtifacts }: RouterConfig,
  { publicUrl }: RouterPod,
  method: string,
  target: string,
): string | undefined {
  if (!redirectsArtifacts || publicUrl === undefined || method !== "POST") return undefined;
  return /^\/api\/v4\/jobs\/\d+\/artifacts(?:\?|$)/.test(target) ? publicUrl.origin + target : undefined;
}
