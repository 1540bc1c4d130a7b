/** The folder of what we bring into a container. */
const ROOT = "/.step-runner";

/** The program and its runtime, read-only. */
export const PROGRAM_DIR: string = `${ROOT}/bin`;
/** The program. */
export const PROGRAM: string = `${PROGRAM_DIR}/step-runner`;
/** The folder that the service writes to. */
export const RUN_DIR: string = `${ROOT}/run`;
/** The socket of the service, in a folder that it makes for itself. */
export const SOCKET: string = `${RUN_DIR}/socket/step-runner.sock`;
