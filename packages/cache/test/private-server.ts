import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { writeFileSync } from "node:fs";
import {
  createCertificates,
  createGitRepository,
  type GitHttpServer,
  type GitHttpServerOptions,
  startGitHttpServer,
  tempDir,
} from "@steps/testkit";

/** The user and the password that private servers want. */
export const USER = { username: "you", password: "s3cret-token" };
export const AUTHORIZATION = `Basic ${Buffer.from("you:s3cret-token").toString("base64")}`;

/** A git server behind TLS, with the repository `private/tools`. */
export interface PrivateServer extends AsyncDisposable {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** The URL of the repository. */
  readonly url: string;
  readonly commit: string;
  /** What the server was asked, with the headers. */
  readonly requests: GitHttpServer["requests"];
}

/** Makes an authority that this process trusts from now on. `env` is for git. */
export async function trustedAuthority(): Promise<{
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly env: Readonly<Record<string, string>>;
}> {
  const { ca, server } = await createCertificates();
  const file = join(tempDir(), "ca.pem");
  writeFileSync(file, ca.cert);
  setDefaultCACertificates([...getCACertificates(), ca.cert]);
  return { certificate: server, env: { GIT_SSL_CAINFO: file } };
}

/** Starts a server that wants the password of `USER`, unless the options say something else. */
export async function startPrivateServer(
  certificate: { readonly cert: string; readonly key: string },
  options: GitHttpServerOptions = { auth: USER },
): Promise<PrivateServer> {
  const root = tempDir();
  const repository = await createGitRepository(join(root, "private/tools"), { "step.yml": "spec: {}\n" });
  const inner = await startGitHttpServer(root, options);
  const port = Number(new URL(inner.url).port);
  const front = createServer(certificate, (socket) => {
    const behind = connect(port, "127.0.0.1");
    for (const end of [socket, behind]) end.on("error", () => [socket, behind].forEach((one) => one.destroy()));
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((listening) => front.listen(0, "127.0.0.1", listening));
  const host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
  return {
    host,
    url: `https://${host}/private/tools`,
    commit: await repository.revision(),
    requests: inner.requests,
    async [Symbol.asyncDispose]() {
      front.close();
      await inner.close();
    },
  };
}
