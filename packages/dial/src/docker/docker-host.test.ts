import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { type DockerHostOptions, readDockerHost } from "./docker-host.ts";

const env = {};

describe("readDockerHost", () => {
  test.each<[DockerHostOptions, object]>([
    [
      { env },
      { name: "unix:///var/run/docker.sock", isTls: false, connection: { socketPath: "/var/run/docker.sock" } },
    ],
    [{ env: { DOCKER_HOST: "" } }, { connection: { socketPath: "/var/run/docker.sock" } }],
    [{ env: { DOCKER_HOST: "unix:///x/d.sock" } }, { connection: { socketPath: "/x/d.sock" } }],
    [{ host: "unix:///a%20b", env: { DOCKER_HOST: "tcp://h" } }, { connection: { socketPath: "/a b" } }],
    [
      { host: "tcp://h", env },
      { name: "tcp://h:2375", isTls: false, connection: { hostname: "h", port: 2375 } },
    ],
    [{ host: "tcp://", env }, { connection: { hostname: "127.0.0.1", port: 2375 } }],
    [
      { host: "tcp://[::1]:99", env },
      { name: "tcp://[::1]:99", connection: { hostname: "::1", port: 99 } },
    ],
    [
      { host: "tcp://h", tls: {}, env },
      { isTls: true, connection: { port: 2376, rejectUnauthorized: true } },
    ],
    [
      { host: "http://h/docker/", env },
      { isTls: false, prefix: "/docker", connection: { port: 80 } },
    ],
    [{ host: "http://h", tls: {}, env }, { isTls: false }],
    [
      { host: "https://h", env },
      { isTls: true, prefix: "", connection: { port: 443, rejectUnauthorized: true } },
    ],
    [
      { host: "https://h:1", tls: { ca: "A", cert: "C", key: "K", serverName: "n", insecure: true }, env },
      { connection: { ca: "A", cert: "C", key: "K", servername: "n", rejectUnauthorized: false, port: 1 } },
    ],
  ])("%j", async (options, expected) => {
    expect(await readDockerHost(options)).toMatchObject(expected);
  });

  test("takes the certificates of the docker command", async () => {
    const folder = tempDir();
    const variables = { DOCKER_HOST: "tcp://h", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: folder };
    await expect(readDockerHost({ env: variables })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: `There is no '${join(folder, "ca.pem")}'`,
    });
    for (const name of ["ca", "cert", "key"]) await writeFile(join(folder, `${name}.pem`), name);
    const pem = { ca: Buffer.from("ca"), cert: Buffer.from("cert"), key: Buffer.from("key") };
    expect(await readDockerHost({ env: variables })).toMatchObject({
      isTls: true,
      connection: { ...pem, rejectUnauthorized: true, port: 2376 },
    });
    const trusting = { DOCKER_HOST: "tcp://h", DOCKER_TLS: "1", DOCKER_CERT_PATH: folder };
    expect(await readDockerHost({ env: trusting })).toMatchObject({ connection: { rejectUnauthorized: false } });
    expect(await readDockerHost({ host: "unix:///s", env: variables })).toMatchObject({ isTls: false });
  });

  test.each([
    ["ssh://user@h", "Dial the host with SSH"],
    ["npipe:////./pipe/docker_engine", "Windows pipes"],
    ["unix://var/run/docker.sock", "three slashes"],
    ["localhost:2375", "tcp://HOST:PORT"],
    ["ftp://user:secret@h", "tcp://HOST:PORT"],
    ["", "tcp://HOST:PORT"],
  ])("'%s' is no address, and it says what would be", async (host, hint) => {
    const error: unknown = await readDockerHost({ host, env }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "ADDRESS_INVALID",
      isPermanent: true,
      hint: expect.stringContaining(hint) as string,
    });
    expect(String(error)).not.toContain("secret");
  });
});
