import { randomBytes } from "node:crypto";
import { finished } from "node:stream/promises";
import { socketPlaces } from "@steps/model/socket-path";
import { PROXY_COMMANDS } from "../proxy.ts";
import { shellCommand, shellQuote } from "./shell-quote.ts";
import type { SshStream } from "./ssh-stream.ts";

/** Runs a command on the host, which the user's shell there takes apart. */
export type RemoteExec = (command: string) => Promise<SshStream>;

const VARIABLES = [
  "HOME",
  "XDG_RUNTIME_DIR",
  "XDG_STATE_HOME",
  "STEP_RUNNER_STATE_DIR",
  "STEP_RUNNER_SOCKET",
  "TMPDIR",
];
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_TIMEOUT_MS = 10_000;
// The longest path that fits into `sun_path` on Linux, without the final NUL.
const MAX_PATH_BYTES = 107;

/** The first that is there is started: those of containers, and the runner itself, as GitLab's instance executor does. */
const PROXIES: readonly (readonly string[])[] = [...PROXY_COMMANDS, ["gitlab-runner", "steps", "proxy"]];

/**
 * A command line that becomes one of the proxies; `socket` is where it should connect to. With `starts` it is one of ours, which
 * starts the service if need be.
 */
export function proxyCommandLine({
  socket,
  starts = false,
}: {
  socket?: string | undefined;
  starts?: boolean;
}): string {
  const to = [...(socket === undefined ? [] : ["--socket", socket]), ...(starts ? ["--start"] : [])];
  const proxies = starts ? PROXIES.filter(([name]) => name?.endsWith("step-runner")) : PROXIES;
  const tries = proxies.map(
    (words) => `if command -v ${words[0]} >/dev/null 2>&1; then exec ${shellCommand([...words, ...to])}; fi`,
  );
  // Shells that are not logged in often miss the places where people put programs.
  const path = 'PATH="$PATH:/usr/local/bin:$HOME/.local/bin"';
  const names = proxies.map(([name]) => name).join(", ");
  return `sh -c ${shellQuote(`${path}; export PATH; ${tries.join("; ")}; echo "none of ${names} is on the PATH" >&2; exit 127`)}`;
}

/**
 * Returns the paths at which a service of this user may listen on the host, according to the environment there. It is
 * empty if the host does not answer. The place that all users share is included only if the socket there belongs to
 * this user: anybody could put a socket there and wait for secrets.
 */
export async function remoteSocketPlaces(exec: RemoteExec): Promise<string[]> {
  const mark = randomBytes(16).toString("hex");
  const stream = await exec(environmentCommand(mark));
  const fields = fieldsAfter(await readAnswer(stream), mark);
  if (fields === undefined) return [];
  const env = Object.fromEntries(VARIABLES.map((name, at) => [name, fields[at]]));
  const isOwn = fields[VARIABLES.length] === "own";
  const { all } = socketPlaces(env);
  const shared = socketPlaces({ TMPDIR: env["TMPDIR"] }).all.at(-1);
  return all.filter((path) => isSocketPath(path) && (path !== shared || isOwn || path === env["STEP_RUNNER_SOCKET"]));
}

/** Whether a path can be one of a unix socket. */
export function isSocketPath(path: string): boolean {
  return path.startsWith("/") && !path.includes("\0") && Buffer.byteLength(path) <= MAX_PATH_BYTES;
}

/** On one line, without `!`, for shells that are not of Bourne's family; the mark divides what they say on their own account. */
function environmentCommand(mark: string): string {
  const values = VARIABLES.map((name) => `"$${name}"`).join(" ");
  const shared = "${TMPDIR:-/tmp}";
  const script = `s="${shared}/step-runner.sock"; o=other; if [ -S "$s" ] && [ -O "$s" ]; then o=own; fi; printf "%s\\000" ${mark} ${values} "$o"`;
  return `sh -c ${shellQuote(script)}`;
}

function fieldsAfter(answer: Buffer, mark: string): string[] | undefined {
  const at = answer.lastIndexOf(`${mark}\0`);
  if (at === -1) return undefined;
  const fields = answer.toString("utf8", at + mark.length + 1).split("\0");
  return fields.length < VARIABLES.length + 2 ? undefined : fields;
}

/** Reads the command's output, as far as it fits and arrives in time. */
async function readAnswer(stream: SshStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => stream.destroy(), ANSWER_TIMEOUT_MS);
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
    else stream.destroy();
  });
  stream.end();
  try {
    await finished(stream, { writable: false });
  } catch {
    // A host that does not answer has told what it told.
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
  return Buffer.concat(chunks);
}
