import { checkOptionNames, type OptionNames } from "@steps/model";
import { join } from "node:path";
import { KubernetesError } from "../kubernetes-error.ts";
import { isFresh, runCredentialPlugin } from "./exec-credential.ts";
import type { ExecCredential } from "./exec-credential.ts";
import { flagField, isRecord, loadKubeconfig, pathField, textField } from "./kubeconfig.ts";
import type { KubeconfigEntry, KubeconfigSelection } from "./kubeconfig.ts";
import { readBounded } from "./read-bounded.ts";

const MAX_FILE_BYTES = 1024 * 1024;
const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The address and the credentials for requests to an API server. It holds secrets. */
export interface KubernetesAccess {
  /** The URL of the API server. It may have a path, without a slash at the end. */
  readonly server: URL;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: KubernetesTls;
  readonly namespace: string;
  /** The credentials came from a plugin, which may know newer ones. */
  readonly isFromPlugin: boolean;
}

/** The TLS options, as `tls.connect` takes them. */
export interface KubernetesTls {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  rejectUnauthorized?: boolean;
}

/**
 * The sources of a cluster's address and credentials. `kubeconfig` is the path of a file and `context` a name in it; by
 * default they are those that `env` names.
 */
export interface KubernetesAccessOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of a pod's service account. Only tests set it. */
  readonly serviceAccountDir?: string | undefined;
}

/** Finds the way to the cluster anew at each call: files may have changed, only credentials of plugins are kept. */
export interface KubernetesAccessSource {
  resolve(signal: AbortSignal): Promise<KubernetesAccess>;
  /** Forgets credentials that were refused. */
  forget(): void;
}

const OPTION_NAMES: OptionNames<KubernetesAccessOptions> = {
  kubeconfig: true,
  context: true,
  env: true,
  serviceAccountDir: true,
};

/**
 * Access by a kubeconfig, or, when there is none, by the service account of the pod we run in. Rejects with ADDRESS_INVALID
 * (no or a wrong configuration, something in it that is not supported) or UNREACHABLE (a credential plugin failed).
 */
export function createKubernetesAccess(options: KubernetesAccessOptions): KubernetesAccessSource {
  checkOptionNames("createKubernetesAccess()", options, OPTION_NAMES);
  const credentials = new Map<string, ExecCredential>();
  const resolve = async (signal: AbortSignal): Promise<KubernetesAccess> => {
    const selection = await loadKubeconfig(options, signal);
    if (selection !== undefined) return fromKubeconfig(selection, { options, credentials, signal });
    return fromServiceAccount(options);
  };
  return { resolve, forget: () => credentials.clear() };
}

interface Context {
  readonly options: KubernetesAccessOptions;
  readonly credentials: Map<string, ExecCredential>;
  readonly signal: AbortSignal;
}

async function fromKubeconfig(selection: KubeconfigSelection, context: Context): Promise<KubernetesAccess> {
  const { cluster, user } = selection;
  const { server, tls } = await readCluster(cluster);
  const headers: Record<string, string | string[]> = {};
  let isFromPlugin = false;
  if (user !== undefined) {
    refuseUnsupported(user);
    await addCertificate(tls, user);
    isFromPlugin = await addToken(headers, tls, { user, cluster: { server, tls }, context });
    addImpersonation(headers, user);
  }
  return { server, headers, tls, namespace: selection.namespace ?? "default", isFromPlugin };
}

async function readCluster(cluster: KubeconfigEntry): Promise<{ server: URL; tls: KubernetesTls }> {
  const { fields } = cluster;
  if (textField(fields, "proxy-url") !== undefined) throw unsupported("proxy-url");
  const tls: KubernetesTls = {};
  const ca = await readPem(cluster, "certificate-authority");
  if (ca !== undefined) tls.ca = ca;
  const servername = textField(fields, "tls-server-name");
  if (servername !== undefined) tls.servername = servername;
  if (flagField(fields, "insecure-skip-tls-verify")) {
    if (ca !== undefined) throw invalid('has both "certificate-authority" and "insecure-skip-tls-verify"');
    tls.rejectUnauthorized = false;
  }
  return { server: parseServer(textField(fields, "server") ?? ""), tls };
}

function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (
    url === undefined ||
    !/^https?:$/u.test(url.protocol) ||
    url.username !== "" ||
    url.search !== "" ||
    url.hash !== ""
  ) {
    throw invalid('has a "server" that is no http or https URL');
  }
  url.pathname = url.pathname.replace(/\/+$/u, "");
  return url;
}

function refuseUnsupported({ fields }: KubeconfigEntry): void {
  if (isRecord(fields["auth-provider"])) {
    throw unsupported("auth-provider", 'kubectl has dropped it too: use a credential plugin ("exec")');
  }
  if (isRecord(fields["as-user-extra"])) throw unsupported("as-user-extra");
}

async function addCertificate(tls: KubernetesTls, user: KubeconfigEntry): Promise<void> {
  const cert = await readPem(user, "client-certificate");
  const key = await readPem(user, "client-key");
  if ((cert === undefined) !== (key === undefined)) throw invalid("has only one of client certificate and key");
  if (cert !== undefined && key !== undefined) Object.assign(tls, { cert, key });
}

interface TokenContext {
  readonly user: KubeconfigEntry;
  readonly cluster: { readonly server: URL; readonly tls: KubernetesTls };
  readonly context: Context;
}

/** Whether a plugin gave it. */
async function addToken(
  headers: Record<string, string | string[]>,
  tls: KubernetesTls,
  about: TokenContext,
): Promise<boolean> {
  const { user } = about;
  const token = await readToken(user);
  const username = textField(user.fields, "username");
  const plugin = user.fields["exec"];
  if (token !== undefined) headers["authorization"] = bearer(token);
  else if (username !== undefined) {
    const pair = `${username}:${textField(user.fields, "password") ?? ""}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else if (isRecord(plugin)) {
    const credential = await pluginCredential({ fields: plugin, dir: user.dir }, about);
    if (credential.token !== undefined) headers["authorization"] = bearer(credential.token);
    if (credential.clientCertificate !== undefined && credential.clientKey !== undefined) {
      Object.assign(tls, { cert: credential.clientCertificate, key: credential.clientKey });
    }
    return true;
  }
  return false;
}

async function readToken(user: KubeconfigEntry): Promise<string | undefined> {
  const path = pathField(user, "tokenFile");
  if (path === undefined) return textField(user.fields, "token");
  const token = (await readFileOf(path, "tokenFile")).toString().trim();
  return token === "" ? textField(user.fields, "token") : token;
}

async function pluginCredential(plugin: KubeconfigEntry, { context, cluster }: TokenContext): Promise<ExecCredential> {
  const key = JSON.stringify(plugin);
  const kept = context.credentials.get(key);
  if (kept !== undefined && isFresh(kept)) return kept;
  const { server, tls } = cluster;
  const about = {
    server: server.href.replace(/\/$/u, ""),
    ...(tls.servername !== undefined && { "tls-server-name": tls.servername }),
    ...(tls.rejectUnauthorized === false && { "insecure-skip-tls-verify": true }),
    ...(tls.ca !== undefined && { "certificate-authority-data": Buffer.from(tls.ca).toString("base64") }),
  };
  const credential = await runCredentialPlugin({ plugin, cluster: about, env: context.options.env }, context.signal);
  context.credentials.set(key, credential);
  return credential;
}

function addImpersonation(headers: Record<string, string | string[]>, { fields }: KubeconfigEntry): void {
  const [as, uid, groups] = [textField(fields, "as"), textField(fields, "as-uid"), fields["as-groups"]];
  if (as !== undefined) headers["impersonate-user"] = headerText(as, "as");
  if (uid !== undefined) headers["impersonate-uid"] = headerText(uid, "as-uid");
  if (Array.isArray(groups) && groups.length > 0) {
    headers["impersonate-group"] = (groups as unknown[]).map((group) => headerText(String(group), "as-groups"));
  }
}

function headerText(text: string, key: string): string {
  if (!/^[\u0020-\u007E]+$/u.test(text))
    throw invalid(`has a ${JSON.stringify(key)} with characters that a header cannot hold`);
  return text;
}

function bearer(token: string): string {
  if (!/^[\u0021-\u007E]+$/u.test(token)) throw invalid("has a token with characters that a header cannot hold");
  return `Bearer ${token}`;
}

async function fromServiceAccount(options: KubernetesAccessOptions): Promise<KubernetesAccess> {
  const { env, serviceAccountDir: dir = SERVICE_ACCOUNT_DIR } = options;
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  if (host === "" || port === "") {
    throw new KubernetesError("ADDRESS_INVALID", "There is no kubeconfig, and this is not a pod of a cluster", {
      hint: "Name a kubeconfig, set KUBECONFIG, or run where ~/.kube/config is",
    });
  }
  const server = parseServer(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const token = (await readFileOf(join(dir, "token"), "token of the service account")).toString().trim();
  const ca = await readFileOf(join(dir, "ca.crt"), "certificate authority of the service account");
  const namespace = (await readFileOf(join(dir, "namespace"), "namespace of the service account")).toString().trim();
  return { server, headers: { authorization: bearer(token) }, tls: { ca }, namespace, isFromPlugin: false };
}

/** A PEM text in the file (`KEY`) or in base64 (`KEY-data`, which counts more). */
async function readPem(entry: KubeconfigEntry, key: string): Promise<Buffer | undefined> {
  const data = textField(entry.fields, `${key}-data`);
  if (data !== undefined) return Buffer.from(data, "base64");
  const path = pathField(entry, key);
  return path === undefined ? undefined : readFileOf(path, key);
}

async function readFileOf(path: string, what: string): Promise<Buffer> {
  try {
    return await readBounded(path, { maxBytes: MAX_FILE_BYTES });
  } catch (cause) {
    throw new KubernetesError("ADDRESS_INVALID", `Reading the ${what} ${JSON.stringify(path)} failed`, { cause });
  }
}

function invalid(what: string): KubernetesError {
  return new KubernetesError("ADDRESS_INVALID", `The kubeconfig ${what}`);
}

function unsupported(key: string, hint?: string): KubernetesError {
  return new KubernetesError("ADDRESS_INVALID", `The kubeconfig has ${JSON.stringify(key)}, which is not supported`, {
    hint,
  });
}
