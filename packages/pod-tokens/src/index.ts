export type { BuildClaims, BuildScope } from "./build-tokens/build-claims.ts";
export {
  inspectBuildToken,
  type InspectedBuildToken,
  routingOfBuildToken,
} from "./build-tokens/inspect-build-token.ts";
export { KnownTokens } from "./build-tokens/known-tokens.ts";
export { type BuildTokenOptions, MAX_BUILD_TOKEN_SECONDS, mintBuildToken } from "./build-tokens/mint-build-token.ts";
export {
  type BuildTokenRefusal,
  type BuildTokenUse,
  type BuildTokenVerdict,
  verifyBuildToken,
} from "./build-tokens/verify-build-token.ts";
export type { Routing } from "./routing.ts";
export {
  mintRoutableToken,
  parseRoutableToken,
  type RoutableToken,
  type RoutableTokenOptions,
} from "./runner-tokens/routable-token.ts";
export { DAEMON_NUMBER, idsOf, podOfId } from "./pod-ids.ts";
export { hashToken, tokenFingerprint } from "./runner-tokens/token-text.ts";
export { TokenError, type TokenErrorCode } from "./token-error.ts";
