export { listenPort, type PortOptions } from "./listen-port.ts";
export { listenUnix } from "./listen-unix.ts";
export { drainJobs } from "./drain-jobs.ts";
export { drainListeners, type Listener, stopService } from "./listener.ts";
export type { RequestHandler, ServerReply, ServerRequest } from "../request/request-handler.ts";
export { assertSocketFree } from "./socket-file.ts";
