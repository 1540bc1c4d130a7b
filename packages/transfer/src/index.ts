export { cancelled, systemCode, throwIfCancelled, TransferError, type TransferErrorCode } from "./error.ts";
export { type HttpAnswer, type HttpRequest, readBody, request, statusError } from "./http/http-client.ts";
export { openRemote, type Remote, replacePrefix } from "./http/remote.ts";
export { DEFAULT_LIMITS, type Limits } from "./limits.ts";
