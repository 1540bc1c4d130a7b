import { StepsError } from "@steps/model";

/** A token cannot be made of what was given (`TOKEN_INVALID`), or a stored key cannot be used (`KEY_INVALID`). */
export type TokenErrorCode = "TOKEN_INVALID" | "KEY_INVALID";

/** A token or a key cannot be made. Messages never hold a token or a key. Reading a token throws nothing: it gives a refusal. */
export class TokenError extends StepsError<TokenErrorCode> {}
