export {
  createKeySet,
  type KeySet,
  loadKeySet,
  type PreviousKey,
  revokeKey,
  type RotateOptions,
  rotateKeySet,
  type StoredKeySet,
  storeKeySet,
  verifyKeysOf,
} from "./key-set.ts";
export type { SigningAlgorithm, SigningKey, VerifyAlgorithm, VerifyKey } from "./signing-key.ts";
export { fromJsonWebKeySet, type JsonWebKeySet, toJsonWebKeySet, type VerifyKeys } from "./verify-keys.ts";
