import { lstat } from "node:fs/promises";
import net from "node:net";
import { socketPlaces } from "@steps/model/socket-path";
import { codeOf } from "./connect-error.ts";
import { DialError } from "./dial-error.ts";
import type { Dial } from "./dial.ts";

/** A socket by its path, or the first of the usual places (`socketPlaces` of `@steps/model`) that accepts. */
export type UnixTarget = { readonly path: string } | { readonly env: Readonly<Record<string, string | undefined>> };

const START_HINT = "Start the service with 'step-runner serve', or name its socket";

/**
 * Dials a service on this machine. The stream is the `net.Socket` itself. Of the usual places only sockets of this user and
 * of root are dialled: one of them lies in a directory where anybody may put a socket and wait for secrets.
 *
 * Rejects with `UNREACHABLE` when nobody listens, `DENIED` when we may not, `ADDRESS_INVALID` when there is something else
 * than a stream socket.
 */
export function dialUnix(target: UnixTarget): Dial {
  return async (signal) => {
    signal.throwIfAborted();
    if ("path" in target) return await connect(target.path, signal);
    const failures: DialError[] = [];
    for (const path of socketPlaces(target.env).all) {
      try {
        if (path !== target.env["STEP_RUNNER_SOCKET"]) await expectOurs(path);
        return await connect(path, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DialError)) throw error;
        failures.push(error);
      }
    }
    throw worstOf(failures);
  };
}

/** One error of many: the place where a service may be that does not let us in, or all the places where none is. */
function worstOf(failures: readonly DialError[]): DialError {
  const telling = failures.find((failure) => failure.code !== "UNREACHABLE");
  const causes = failures.map((failure) => failure.cause);
  if (telling !== undefined) return telling;
  const places = failures.map((failure) => failure.message.replace(/^.*?'/, "'")).join("; ");
  return new DialError("UNREACHABLE", `No service listens: ${places}`, {
    cause: new AggregateError(causes),
    hint: START_HINT,
  });
}

async function expectOurs(path: string): Promise<void> {
  const owner = await lstat(path).then(
    (stats) => stats.uid,
    () => undefined, // The attempt to connect says what is the matter.
  );
  const own = process.getuid?.();
  if (owner === undefined || own === undefined || owner === 0 || owner === own) return;
  throw new DialError("DENIED", `The socket '${path}' belongs to another user (uid ${owner})`, {
    hint: "If it is the one you mean, name it with --socket or STEP_RUNNER_SOCKET",
  });
}

async function connect(path: string, signal: AbortSignal): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const socket = new net.Socket();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  socket.once("connect", () => resolve(socket)).once("error", reject);
  try {
    socket.connect({ path });
    return await promise;
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? signal.reason : unixError(path, error);
  } finally {
    signal.removeEventListener("abort", onAbort);
    socket.off("error", reject);
  }
}

function unixError(path: string, cause: unknown): DialError {
  const code = codeOf(cause);
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    const why = code === "ENOENT" ? "does not exist" : "is stale, nobody listens there";
    return new DialError("UNREACHABLE", `The socket '${path}' ${why}`, { cause, hint: START_HINT });
  }
  if (code === "EACCES" || code === "EPERM") {
    const hint = "Run as the user who runs the service";
    return new DialError("DENIED", `No permission to use the socket '${path}'`, { cause, hint });
  }
  if (code === "EAGAIN")
    return new DialError("UNREACHABLE", `The service at '${path}' is too busy to accept`, { cause });
  return new DialError("ADDRESS_INVALID", `Cannot connect to '${path}': ${code ?? String(cause)}`, { cause });
}
