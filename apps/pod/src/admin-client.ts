import { StepsError } from "@steps/model";
import { readAddress } from "@steps/pods";
import { stateDirectory } from "./state-directory.ts";

/** Why a pod did not do what it was asked for. */
type PodErrorCode = "POD_UNREACHABLE" | "POD_REFUSED" | "POD_UNKNOWN";

/** The pod cannot be reached or found, or it refused. */
class PodError extends StepsError<PodErrorCode> {}

/** Calls the admin API of a pod. */
export interface AdminClient {
  readonly url: string;
  /** Calls and reads the JSON of the answer. @throws {PodError} */
  readonly call: <T>(method: string, path: string, body?: unknown) => Promise<T>;
  /** The same for an answer that is no JSON. @throws {PodError} */
  readonly fetch: (method: string, path: string, body?: unknown) => Promise<Response>;
}

/** The options that say which pod is meant. */
export interface AdminOptions {
  readonly stateDir: string | undefined;
  readonly url: string | undefined;
  readonly adminToken: string | undefined;
}

/** Finds the pod that the options mean. @throws {PodError} POD_UNKNOWN */
export function adminClient({ stateDir = stateDirectory(process.env), url, adminToken }: AdminOptions): AdminClient {
  const known = readAddress(stateDir);
  const address = { url: url ?? known?.url, token: adminToken ?? known?.token };
  const { url: base, token } = address;
  if (base === undefined || token === undefined)
    throw new PodError("POD_UNKNOWN", `No pod has listened yet in "${stateDir}"`, {
      hint:
        base === undefined
          ? 'Start one with "pod serve", which is there after some seconds, or name another one with --url or --state-dir.'
          : "Give the token of its owner by POD_ADMIN_TOKEN.",
    });
  const root = base.replace(/\/+$/, "");
  const send: AdminClient["fetch"] = async (method, path, body) => await request(root, token, { method, path, body });
  return {
    url: root,
    fetch: send,
    call: async <T>(method: string, path: string, body?: unknown) =>
      (await (await send(method, path, body)).json()) as T,
  };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

async function request(url: string, token: string, { method, path, body }: Call): Promise<Response> {
  let reply: Response;
  try {
    reply = await fetch(`${url}/api/pod/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (cause) {
    throw new PodError("POD_UNREACHABLE", `No pod answers at ${url}`, {
      cause,
      hint: '"pod serve" starts one.',
    });
  }
  if (reply.ok) return reply;
  if (reply.status === 401)
    throw new PodError("POD_REFUSED", `The pod at ${url} does not know this token`, {
      hint: "admin.json in its state directory has the token; POD_ADMIN_TOKEN passes it on.",
    });
  // A router says so while the pod is away, and a pod while its database is.
  const isAway = [502, 503, 504].includes(reply.status);
  throw new PodError(isAway ? "POD_UNREACHABLE" : "POD_REFUSED", await messageOf(reply));
}

async function messageOf(reply: Response): Promise<string> {
  const text = await reply.text();
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === "string") return message;
  } catch {
    // It is from something between here and the pod.
  }
  return `The pod answered with status ${reply.status}`;
}
