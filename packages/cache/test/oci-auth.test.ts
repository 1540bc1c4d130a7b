import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import type { ComponentRequest } from "../src/index.ts";
import { codeOf, openCache } from "./fixtures.ts";
import { buildImage, gzip, hasRegistry, push, skopeo, startRegistry } from "@steps/testkit/image-registry";
import { createCertificate, startTokenServer } from "./token-server.ts";

const user = { username: "me", password: "s3cret-password" };
const header = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString("base64")}`;
const image = buildImage({ layers: [{ data: gzip([{ path: "step.yml", content: "x" }]) }] });

function request(registry: string, repository: string, env: Record<string, string> = {}): ComponentRequest {
  return { kind: "oci", registry, repository, tag: "v1", env };
}

function authConfig(registry: string, entry: object): string {
  return JSON.stringify({ auths: { [registry]: entry } });
}

test.skipIf(!hasRegistry)(
  "a registry that wants Basic credentials gets them from each place that may have them",
  async () => {
    await using registry = await startRegistry({ basic: user });
    const { host } = registry;
    await push(`http://${host}`, { repository: "g/p", tag: "v1", images: [image], headers: { authorization: header } });
    const home = tempDir();
    const resolve = async (env: Record<string, string>, runner: Record<string, string> = {}): Promise<unknown> => {
      await using cache = openCache({ env: { HOME: home, PATH: process.env["PATH"], ...runner } });
      return await codeOf(cache.resolve(request(host, "g/p", env)));
    };
    const auth = Buffer.from(`${user.username}:${user.password}`).toString("base64");
    const job = { CI_REGISTRY: host, CI_REGISTRY_USER: user.username, CI_REGISTRY_PASSWORD: user.password };
    expect(await resolve({})).toBe("AUTH_FAILED");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig(host, { auth }) })).toHaveProperty("value");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig(`https://${host}/v2/`, user) })).toHaveProperty("value");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig(`${host}/g`, { auth }) })).toHaveProperty("value");
    expect(await resolve({}, { DOCKER_AUTH_CONFIG: authConfig(host, { auth }) })).toHaveProperty("value");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig("other", { auth }) })).toBe("AUTH_FAILED");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig(`${host}/h`, { auth }) })).toBe("AUTH_FAILED");
    expect(await resolve({ DOCKER_AUTH_CONFIG: authConfig(host, { ...user, password: "no" }) })).toBe("AUTH_FAILED");
    expect(await resolve(job)).toHaveProperty("value");
    expect(await resolve({}, job)).toHaveProperty("value");
    expect(await resolve({ ...job, CI_REGISTRY: "registry.example.com" })).toBe("AUTH_FAILED");
    mkdirSync(join(home, ".docker"));
    writeFileSync(join(home, ".docker/config.json"), authConfig(host, { auth }));
    expect(await resolve({})).toHaveProperty("value");
    await using cache = openCache({ env: { HOME: tempDir() } });
    const failure = cache.resolve(request(host, "g/p", { DOCKER_AUTH_CONFIG: '{"auths": s3cret-password' }));
    await expect(failure).rejects.toThrow(/^Cannot read DOCKER_AUTH_CONFIG: it is no JSON[^s]*$/);
  },
);

test.skipIf(!hasRegistry)("a credential helper is asked, and is not waited for", async () => {
  await using registry = await startRegistry({ basic: user });
  const { host } = registry;
  await push(`http://${host}`, { repository: "g/p", tag: "v1", images: [image], headers: { authorization: header } });
  const bin = tempDir();
  const helper = (name: string, script: string): void =>
    writeFileSync(join(bin, `docker-credential-${name}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const answer = JSON.stringify({ ServerURL: host, Username: user.username, Secret: user.password });
  helper("good", `read server; [ "$1 $server" = "get ${host}" ] || exit 3; echo '${answer}'`);
  // The process that this helper leaves behind keeps its output open.
  helper("lingering", `echo '${answer}'; sleep 60 &`);
  helper("none", "echo 'credentials not found in native keychain'; exit 1");
  helper("broken", "echo s3cret-password; exit 4");
  helper("talkative", "yes s3cret-password");
  const resolve = async (config: object): Promise<unknown> => {
    const env = { HOME: tempDir(), PATH: `${bin}:${process.env["PATH"]}` };
    await using cache = openCache({ env });
    const text = { ...env, DOCKER_AUTH_CONFIG: JSON.stringify(config) };
    const resolved = cache.resolve(request(host, "g/p", text));
    const failure = await resolved.then(
      () => "",
      (error: unknown) => String(error),
    );
    expect(failure).not.toContain("s3cret");
    return await codeOf(resolved);
  };
  expect(await resolve({ credHelpers: { [host]: "good" } })).toHaveProperty("value");
  expect(await resolve({ credsStore: "good" })).toHaveProperty("value");
  expect(await resolve({ credsStore: "lingering" })).toHaveProperty("value");
  expect(await resolve({ credsStore: "none" })).toBe("AUTH_FAILED");
  expect(await resolve({ credsStore: "none", auths: { [host]: user } })).toHaveProperty("value");
  for (const name of ["broken", "talkative", "missing", "../good", "a b", ""]) {
    expect(await resolve({ credHelpers: { [host]: name } })).toBe("AUTH_FAILED");
  }
});

test.skipIf(!hasRegistry)(
  "a token is fetched without credentials, by password or by refresh token, and used again",
  async () => {
    const certificate = createCertificate();
    await using tokens = await startTokenServer(certificate, { ...user, refreshToken: "refresh-me" });
    await using registry = await startRegistry({
      token: { realm: tokens.url, certificate: certificate.certificate },
    });
    const { host } = registry;
    const home = tempDir();
    writeFileSync(join(home, "auth.json"), authConfig(host, { auth: header.slice(6) }));
    const layout = await writeImage();
    for (const repository of ["public/p", "private/p"]) {
      await skopeo(["copy", "--dest-tls-verify=false", `oci:${layout}`, `docker://${host}/${repository}:v1`], {
        REGISTRY_AUTH_FILE: join(home, "auth.json"),
      });
    }
    const seen = (): number => tokens.requests.length;
    const before = seen();
    await using cache = openCache({ env: { HOME: home } });
    expect(await codeOf(cache.resolve(request(host, "public/p")))).toHaveProperty("value");
    expect(seen() - before).toBe(1);
    expect(tokens.requests.at(-1)).toMatchObject({ method: "GET", authorization: undefined });
    expect(tokens.requests.at(-1)?.url).toContain("scope=repository%3Apublic%2Fp%3Apull");
    expect(await codeOf(cache.resolve(request(host, "private/p")))).toBe("AUTH_FAILED");
    const withPassword = { DOCKER_AUTH_CONFIG: authConfig(host, user) };
    await using second = openCache({ env: { HOME: home } });
    expect(await codeOf(second.resolve(request(host, "private/p", withPassword)))).toHaveProperty("value");
    expect(tokens.requests.at(-1)).toMatchObject({ method: "GET", authorization: header });
    // Credentials that one step may use are not those of another.
    await using third = openCache({ env: { HOME: home } });
    expect(await codeOf(third.resolve({ ...request(host, "private/p"), tag: image.digest } as ComponentRequest))).toBe(
      "AUTH_FAILED",
    );
    const refresh = { DOCKER_AUTH_CONFIG: authConfig(host, { identitytoken: "refresh-me" }) };
    await using fourth = openCache({ env: { HOME: home } });
    expect(await codeOf(fourth.resolve(request(host, "private/p", refresh)))).toHaveProperty("value");
    expect(tokens.requests.at(-1)).toMatchObject({ method: "POST", authorization: undefined });
    expect(tokens.requests.at(-1)?.body).toContain("grant_type=refresh_token");
  },
);

test.skipIf(!hasRegistry)(
  "a registry with a certificate of a CA of one's own is believed when Node is told the CA",
  async () => {
    const certificate = createCertificate();
    await using registry = await startRegistry({ tls: certificate });
    const layout = await writeImage();
    await skopeo(["copy", "--dest-tls-verify=false", `oci:${layout}`, `docker://${registry.host}/g/p:v1`]);
    const worker = fileURLToPath(new URL("oci-worker.ts", import.meta.url));
    const run = async (env: Record<string, string>): Promise<string> => {
      const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env;
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ["--conditions=steps-source", worker, join(tempDir(), "cache"), registry.host],
        { env: { ...rest, ...env } },
      );
      return stdout.trim();
    };
    expect(await run({ NODE_EXTRA_CA_CERTS: certificate.certificate })).toBe("resolved");
    // And without, nothing is asked by http instead.
    expect(await run({})).toBe("TRANSPORT");
    expect(registry.log.join("\n")).not.toContain("HTTP request to an HTTPS server");
  },
);

async function writeImage(): Promise<string> {
  const dir = tempDir();
  mkdirSync(join(dir, "blobs/sha256"), { recursive: true });
  const blob = (digest: string, data: Uint8Array): void =>
    writeFileSync(join(dir, "blobs/sha256", digest.slice(7)), data);
  for (const [digest, data] of image.blobs) blob(digest, data);
  blob(image.digest, image.manifest);
  const entry = { mediaType: image.mediaType, digest: image.digest, size: image.manifest.byteLength };
  writeFileSync(join(dir, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  writeFileSync(join(dir, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  return dir;
}
