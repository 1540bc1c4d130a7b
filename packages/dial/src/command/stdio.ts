import { existsSync } from "node:fs";
import { BoundedText, printable } from "@steps/model/bounded-text";
import { type ChildConnection, spawnOnSocket } from "./child-connection.ts";
import { codeOf } from "../connect-error.ts";
import { DialError } from "../dial-error.ts";
import type { Dial } from "../dial.ts";
import { untilHttp2 } from "../expect-http2.ts";

/** A command whose stdin and stdout are a connection to the service. */
export interface CommandTarget {
  /** A program by its path or its name on the PATH. */
  readonly command: string;
  readonly args?: readonly string[];
  /** The whole environment; that of this process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const LAST_WORDS_MS = 1000;

/**
 * Dials by running a command: `step-runner proxy`, `ssh HOST step-runner proxy`, `docker exec -i NAME step-runner proxy`.
 * The stream is a real `net.Socket`, whose other end is the child's stdin and stdout, so HTTP/2 runs on it as on any socket.
 * The child leads a process group of its own. Destroying the stream ends the group: TERM, and KILL after 2 s.
 *
 * Rejects with `NOT_FOUND` (no such program or folder), `DENIED` (not executable), `NO_SERVICE` (it ended before an HTTP/2
 * server answered; the message has the beginning and the end of its stderr) or `PROTOCOL` (it says something else).
 */
export function dialCommand(target: CommandTarget): Dial {
  return async (signal) => {
    signal.throwIfAborted();
    const stderr = new BoundedText();
    const connection = await spawnOnSocket(target, (chunk) => stderr.append(chunk)).catch((error: unknown) => {
      throw spawnError(target, error);
    });
    return await untilHttp2(connection.socket, (text) => explain(target.command, connection, [stderr, text]), {
      signal,
    });
  };
}

async function explain(command: string, connection: ChildConnection, said: readonly unknown[]): Promise<DialError> {
  const status = await connection.untilEnded(LAST_WORDS_MS);
  const words = said.map((text) => printable(String(text))).filter((text) => text !== "");
  const quoted = words.length === 0 ? "" : `: ${words.join("\n")}`;
  if (status !== undefined) {
    return new DialError("NO_SERVICE", `Command '${command}' ended with ${status} before a service answered${quoted}`);
  }
  if (words.length === 0) return new DialError("NO_SERVICE", `Command '${command}' closed its output without a word`);
  return new DialError("PROTOCOL", `Command '${command}' speaks something else than HTTP/2${quoted}`, {
    hint: "The command must be a proxy, such as 'step-runner proxy', and write nothing else to its stdout",
  });
}

function spawnError({ command, cwd }: CommandTarget, cause: unknown): DialError {
  const code = codeOf(cause);
  if (code === "ENOENT" || code === "ENOTDIR") {
    const what = cwd !== undefined && !existsSync(cwd) ? `folder '${cwd}'` : `program '${command}'`;
    return new DialError("NOT_FOUND", `There is no ${what}`, { cause });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new DialError("DENIED", `No permission to run '${command}'`, { cause });
  }
  const why = `Cannot run '${command}': ${code ?? String(cause)}`;
  const isPassing =
    code === "EAGAIN" || code === "EMFILE" || code === "ENFILE" || code === "ENOMEM" || code === "ENOSPC";
  return new DialError(isPassing ? "UNREACHABLE" : "ADDRESS_INVALID", why, { cause });
}
