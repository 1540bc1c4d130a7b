export { digestOf, sha256 } from "./digest.ts";
export { isInside } from "./is-inside.ts";
export {
  formatIdentity,
  livenessOf,
  parseIdentity,
  processIdentity,
  type ProcessIdentity,
} from "./process-identity.ts";
export { describeFolderError, folderProblem, isPrivateFolder, makePrivateFolder } from "./private-folder.ts";
export { bootId, hasEnded, type ProcessStat, readProcessStat } from "./process-stat.ts";
export { StreamHash } from "./stream-hash/stream-hash.ts";
export { takeTurn, type TakeTurnOptions } from "./take-turn.ts";
