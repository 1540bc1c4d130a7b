import { execFileSync } from "node:child_process";
import { createSign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";

export interface TokenServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly { method: string; url: string; authorization: string | undefined; body: string }[];
}

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** A key and a certificate of its own for 127.0.0.1, in files. */
export function createCertificate(): Certificate {
  const dir = tempDir();
  const [certificate, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const subject = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
  execFileSync(
    "openssl",
    ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, ...subject],
    { stdio: "ignore" },
  );
  return { certificate, key };
}

/** A token server as GitLab's: everybody may pull from `public/…`, and this user everything. */
export async function startTokenServer(
  { certificate, key }: Certificate,
  user: { readonly username: string; readonly password: string; readonly refreshToken?: string },
): Promise<TokenServer> {
  const requests: { method: string; url: string; authorization: string | undefined; body: string }[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = "", url = "" } = request;
    const { authorization } = request.headers;
    requests.push({ method, url, authorization, body });
    const form = method === "POST" ? new URLSearchParams(body) : new URL(url, "http://h").searchParams;
    const expected = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
    const isUser =
      authorization === expected ||
      (user.refreshToken !== undefined && form.get("refresh_token") === user.refreshToken);
    if (authorization !== undefined && !isUser) return void response.writeHead(401).end("{}");
    const [type = "", name = "", actions = ""] = (form.get("scope") ?? "").split(":");
    const granted = isUser ? actions.split(",") : name.startsWith("public/") ? ["pull"] : [];
    const now = Math.floor(Date.now() / 1000);
    const token = sign({ certificate, key }, {
      iss: "test-issuer", sub: isUser ? user.username : "", aud: form.get("service"), jti: String(requests.length),
      iat: now, nbf: now - 10, exp: now + 300, access: [{ type, name, actions: granted }],
    }); // prettier-ignore
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isUser ? { access_token: token, expires_in: 300 } : { token }));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/token`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sign({ certificate, key }: Certificate, claims: object): string {
  const der = readFileSync(certificate, "utf8").replaceAll(/-----[A-Z ]+-----|\s/g, "");
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${encode({ typ: "JWT", alg: "RS256", x5c: [der] })}.${encode(claims)}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(readFileSync(key), "base64url")}`;
}
