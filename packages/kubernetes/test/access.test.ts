import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createCertificates, hasProgram, startKubernetesServer, tempDir, writeKubeconfig } from "@steps/testkit";
import type { KubernetesServer, KubernetesServerOptions, TestCertificates } from "@steps/testkit";
import { createKubernetesAccess, type ExecStream, startExec } from "../src/index.ts";
import type { KubernetesAccessOptions, KubernetesError } from "../src/index.ts";

const open: KubernetesServer[] = [];
const signal = (): AbortSignal => AbortSignal.timeout(20_000);

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function start(options: Partial<KubernetesServerOptions> = {}): Promise<KubernetesServer> {
  const server = await startKubernetesServer({ pods: [{ name: "job" }], ...options });
  open.push(server);
  return server;
}

interface Wish {
  readonly user?: object;
  readonly cluster?: object;
  readonly env?: Record<string, string | undefined>;
}

async function targetOf(server: { url: string }, { user, cluster, env }: Wish): Promise<KubernetesAccessOptions> {
  const kubeconfig = await writeKubeconfig(server, user, cluster);
  return { kubeconfig, env: env ?? process.env };
}

/** Starts a program in the pod "job"; each call of what is given does so again with the same source of access. */
function execWith(options: KubernetesAccessOptions): (signal: AbortSignal) => Promise<ExecStream> {
  const source = createKubernetesAccess(options);
  const exec = { pod: "job", argv: ["cat"], timeoutMs: 20_000, pingIntervalMs: 30_000 };
  return async (signal) => (await startExec(source, { ...exec, signal })).stream;
}

async function userSeen(server: KubernetesServer, wish: Wish): Promise<string | undefined> {
  const stream = await execWith(await targetOf(server, wish))(signal());
  stream.destroy();
  return server.requests.at(-1)?.user;
}

async function failWith(server: KubernetesServer, wish: Wish): Promise<KubernetesError> {
  return errorOf(execWith(await targetOf(server, wish))(signal()));
}

/** The reason of a rejection; fails when there is none. */
async function errorOf(promise: Promise<unknown>): Promise<KubernetesError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) throw new Error("It should have been rejected");
  return error as KubernetesError;
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe.skipIf(!hasProgram("openssl"))("TLS", () => {
  let certificates: TestCertificates;
  beforeAll(async () => {
    certificates = await createCertificates();
  });
  const startTls = (more: Partial<KubernetesServerOptions> = {}): Promise<KubernetesServer> =>
    start({ tls: { ...certificates.server, clientCa: certificates.ca.cert }, authorizations: ["Bearer t"], ...more });

  test("trusts the authority of the cluster, in the file or in base64, and no other", async () => {
    const server = await startTls();
    const path = join(tempDir(), "ca.pem");
    await writeFile(path, certificates.ca.cert);
    const user = { token: "t" };
    expect(await userSeen(server, { user, cluster: { "certificate-authority": path } })).toBe("Bearer t");
    const data = { "certificate-authority-data": base64(certificates.ca.cert) };
    expect(await userSeen(server, { user, cluster: data })).toBe("Bearer t");
    expect(await failWith(server, { user })).toMatchObject({
      code: "DENIED",
      message: expect.stringContaining("TLS") as string,
    });
  });

  test("does not verify when told so, but not both", async () => {
    const server = await startTls();
    expect(await userSeen(server, { user: { token: "t" }, cluster: { "insecure-skip-tls-verify": true } })).toBe(
      "Bearer t",
    );
    const both = { "insecure-skip-tls-verify": true, "certificate-authority-data": base64(certificates.ca.cert) };
    expect(await failWith(server, { user: { token: "t" }, cluster: both })).toMatchObject({ code: "ADDRESS_INVALID" });
  });

  test("verifies the name it is told, instead of the host", async () => {
    const server = await startTls();
    const url = { url: server.url.replace("127.0.0.1", "localhost") };
    const ca = { "certificate-authority-data": base64(certificates.ca.cert) };
    const exec = async (cluster: object): Promise<ExecStream> =>
      execWith(await targetOf(url, { user: { token: "t" }, cluster }))(signal());
    expect(await errorOf(exec(ca))).toMatchObject({ code: "DENIED" });
    expect(await errorOf(exec({ ...ca, "tls-server-name": "other.test" }))).toMatchObject({ code: "DENIED" });
    (await exec({ ...ca, "tls-server-name": "server.test" })).destroy();
  });

  test("shows a client certificate, in files or in base64", async () => {
    const server = await startTls();
    const cluster = { "certificate-authority-data": base64(certificates.ca.cert) };
    const { cert, key } = certificates.client;
    const data = { "client-certificate-data": base64(cert), "client-key-data": base64(key) };
    expect(await userSeen(server, { cluster, user: data })).toBe("client");
    const dir = tempDir();
    await writeFile(join(dir, "c.pem"), cert);
    await writeFile(join(dir, "c.key"), key);
    const files = { "client-certificate": join(dir, "c.pem"), "client-key": join(dir, "c.key") };
    expect(await userSeen(server, { cluster, user: files })).toBe("client");
    expect(await failWith(server, { cluster, user: { "client-certificate-data": base64(cert) } })).toMatchObject({
      code: "ADDRESS_INVALID",
    });
  });

  test("takes a certificate from a plugin", async () => {
    const server = await startTls();
    const cluster = { "certificate-authority-data": base64(certificates.ca.cert) };
    const { cert, key } = certificates.client;
    const user = await plugin({ status: { clientCertificateData: cert, clientKeyData: key } });
    expect(await userSeen(server, { cluster, user })).toBe("client");
  });

  test("is a pod's own way in: the token is read again at each call", async () => {
    const server = await startTls({
      authorizations: ["Bearer one", "Bearer two"],
      pods: [{ name: "job", namespace: "jobs" }],
    });
    const dir = tempDir();
    await writeFile(join(dir, "ca.crt"), certificates.ca.cert);
    await writeFile(join(dir, "namespace"), "jobs\n");
    const { hostname, port } = new URL(server.url);
    const env = { HOME: dir, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
    const exec = execWith({ env, serviceAccountDir: dir });
    expect(await errorOf(exec(signal()))).toMatchObject({ code: "ADDRESS_INVALID" });
    for (const token of ["one", "two"]) {
      await writeFile(join(dir, "token"), `${token}\n`);
      (await exec(signal())).destroy();
      expect(server.requests.at(-1)?.user).toBe(`Bearer ${token}`);
    }
    expect(server.sessions.at(-1)?.namespace).toBe("jobs");
  });
});

describe("credentials", () => {
  const authorizations = ["Bearer t", "Bearer 0123", "Bearer file", `Basic ${base64("joe:pass:word")}`];

  test("are a token, a token in a file, or user and password", async () => {
    const server = await start({ authorizations });
    expect(await userSeen(server, { user: { token: "t" } })).toBe("Bearer t");
    const path = join(tempDir(), "token");
    await writeFile(path, "file\n");
    expect(await userSeen(server, { user: { token: "t", tokenFile: path } })).toBe("Bearer file");
    expect(await userSeen(server, { user: { username: "joe", password: "pass:word" } })).toBe(authorizations[3]);
  });

  test("may impersonate, and are refused when they cannot do all that is asked", async () => {
    const server = await start({ authorizations });
    await userSeen(server, { user: { token: "t", as: "ann", "as-groups": ["a", "b"] } });
    const { headers } = server.requests.at(-1) ?? {};
    expect(headers).toMatchObject({ "impersonate-user": "ann", "impersonate-group": "a, b" });
    const extra = await failWith(server, { user: { token: "t", as: "ann", "as-user-extra": { a: ["b"] } } });
    expect(extra.message).toContain('"as-user-extra", which is not supported');
  });

  test("never stand in a message", async () => {
    const server = await start({ authorizations });
    for (const user of [{ token: "geheim" }, { token: "geheim\nx" }, { username: "a", password: "geheim" }]) {
      const error = await failWith(server, { user });
      expect(`${error.message} ${error.hint} ${String(error.cause)}`).not.toContain("geheim");
    }
  });

  test("of kinds that are not supported are named", async () => {
    const server = await start();
    const provider = await failWith(server, { user: { "auth-provider": { name: "gcp" } } });
    expect(provider).toMatchObject({
      code: "ADDRESS_INVALID",
      message: expect.stringContaining("auth-provider") as string,
    });
    const proxy = await failWith(server, { cluster: { "proxy-url": "http://proxy" } });
    expect(proxy).toMatchObject({ code: "ADDRESS_INVALID", message: expect.stringContaining("proxy-url") as string });
  });
});

/** A user whose plugin writes down each call with what it was told, and prints this. */
async function plugin(
  credential: object,
  more: object = {},
): Promise<{ exec: object; calls: () => Promise<string[]> }> {
  const dir = tempDir();
  const apiVersion = "client.authentication.k8s.io/v1";
  const output = JSON.stringify({ kind: "ExecCredential", apiVersion, ...credential });
  await writeFile(join(dir, "output"), output);
  const script = `#!/bin/sh\necho "$* $EXTRA $KUBERNETES_EXEC_INFO" >> ${dir}/calls\ncat ${dir}/output\n`;
  await writeFile(join(dir, "plugin"), script);
  await chmod(join(dir, "plugin"), 0o755);
  const calls = async (): Promise<string[]> => (await readFile(join(dir, "calls"))).toString().trim().split("\n");
  const exec = {
    apiVersion,
    command: join(dir, "plugin"),
    args: ["get", "token"],
    env: null,
    interactiveMode: "IfAvailable",
    ...more,
  };
  return { exec, calls };
}

describe("credential plugins", () => {
  test("are asked once, while what they gave is good", async () => {
    const server = await start({ authorizations: ["Bearer p"] });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const env = [{ name: "EXTRA", value: "more" }];
    const user = await plugin(
      { status: { token: "p", expirationTimestamp: later } },
      { env, provideClusterInfo: true },
    );
    const exec = execWith(await targetOf(server, { user }));
    for (let count = 0; count < 3; count += 1) (await exec(signal())).destroy();
    const [call, ...others] = await user.calls();
    expect(others).toEqual([]);
    const [args = "", info = ""] = (call ?? "").split(/ (?=\{)/u);
    expect(args).toBe("get token more");
    expect(JSON.parse(info)).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false, cluster: { server: server.url } },
    });
  });

  test("are asked again when it is about to expire", async () => {
    const server = await start({ authorizations: ["Bearer p"] });
    const soon = new Date(Date.now() + 2000).toISOString();
    const user = await plugin({ status: { token: "p", expirationTimestamp: soon } });
    const exec = execWith(await targetOf(server, { user }));
    for (let count = 0; count < 2; count += 1) (await exec(signal())).destroy();
    expect(await user.calls()).toHaveLength(2);
  });

  test("are asked once more when it is refused", async () => {
    const server = await start({ authorizations: ["Bearer p"] });
    const user = await plugin({ status: { token: "revoked" } });
    const exec = execWith(await targetOf(server, { user }));
    expect(await errorOf(exec(signal()))).toMatchObject({ code: "DENIED" });
    expect(await user.calls()).toHaveLength(2);
  });

  test("of v1beta1 are taken too", async () => {
    const apiVersion = "client.authentication.k8s.io/v1beta1";
    const server = await start({ authorizations: ["Bearer p"] });
    const user = await plugin({ apiVersion, status: { token: "p" } }, { apiVersion });
    expect(await userSeen(server, { user })).toBe("Bearer p");
  });

  test("that do wrong are named, and what they printed is not", async () => {
    const server = await start();
    const wrongs: object[] = [
      { kind: "Other", status: { token: "geheim" } },
      { apiVersion: "client.authentication.k8s.io/v1beta1", status: { token: "geheim" } },
      { status: {} },
      { status: { clientKeyData: "geheim" } },
      { status: { token: "geheim", expirationTimestamp: "tomorrow" } },
    ];
    for (const wrong of wrongs) {
      const error = await failWith(server, { user: await plugin(wrong) });
      expect(error).toMatchObject({
        code: "ADDRESS_INVALID",
        message: expect.stringContaining("credential plugin") as string,
      });
      expect(`${error.message} ${String(error.cause)}`).not.toContain("geheim");
    }
    const old = await plugin({}, { apiVersion: "client.authentication.k8s.io/v1alpha1" });
    expect(await failWith(server, { user: old })).toMatchObject({ code: "ADDRESS_INVALID" });
    const asking = await plugin({}, { interactiveMode: "Always" });
    expect(await failWith(server, { user: asking })).toMatchObject({
      message: expect.stringContaining("terminal") as string,
    });
  });

  test("that are missing come with their own hint, that fail with their stderr", async () => {
    const server = await start();
    const missing = await plugin({}, { command: "no-such-plugin", installHint: "brew install it" });
    expect(await failWith(server, { user: missing })).toMatchObject({
      code: "ADDRESS_INVALID",
      hint: "brew install it",
    });
    const failing = await plugin({}, { command: "sh", args: ["-c", "echo log in first >&2; exit 4"] });
    expect(await failWith(server, { user: failing })).toMatchObject({
      code: "UNREACHABLE",
      message: 'The credential plugin "sh" ended with exit code 4: log in first',
    });
    const flooding = await plugin({}, { command: "sh", args: ["-c", "exec cat /dev/zero"] });
    expect(await failWith(server, { user: flooding })).toMatchObject({ code: "UNREACHABLE" });
  });

  test("that hang end with the call", async () => {
    const server = await start();
    const pidFile = join(tempDir(), "pid");
    const user = await plugin({}, { command: "sh", args: ["-c", `echo $$ > ${pidFile}; sleep 1000; true`] });
    const exec = execWith(await targetOf(server, { user }));
    const controller = new AbortController();
    const starting = errorOf(exec(controller.signal));
    await expect.poll(async () => readFile(pidFile, "utf8").catch(() => "")).toMatch(/\d\n/u);
    controller.abort(new Error("enough"));
    expect(await starting).toMatchObject({ message: "enough" });
    const pid = Number(await readFile(pidFile, "utf8"));
    // Killed at once; the grandchild is a member of the group until its new parent has taken note.
    await expect.poll(() => isGroupThere(pid), { timeout: 30_000 }).toBe(false);
  });
});

function isGroupThere(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
