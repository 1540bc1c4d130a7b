export type { Dial } from "./dial.ts";
export { ClientError, type ClientErrorCode } from "./client-error.ts";
export { connectService, type ConnectOptions } from "./connect-service.ts";
export type { CallOptions, Offsets, OutputPiece, ServerIdentity, ServiceClient } from "./service-client.ts";
