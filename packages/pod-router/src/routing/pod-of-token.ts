import { parseRoutableToken, routingOfBuildToken } from "@steps/pod-tokens";

/** The number of the pod that a token names, of a runner or of a job; undefined for tokens that name none. */
export function podOfToken(token: string): number | undefined {
  return (parseRoutableToken(token)?.routing ?? routingOfBuildToken(token))?.pod;
}
