import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { withTempDir } from "./temp-dir.ts";

const run = promisify(execFile);

/** PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An authority of a test, and what it has signed. */
export interface TestCertificates {
  readonly ca: Certificate;
  /** For `127.0.0.1`, the name `server.test`, and those that were asked for. */
  readonly server: Certificate;
  /** For the user `client`. */
  readonly client: Certificate;
}

/** Makes certificates that are good for two days; needs the program `openssl` (3.0 or later). `names` are hosts of the server. */
export async function createCertificates(names: readonly string[] = []): Promise<TestCertificates> {
  return withTempDir(async (dir) => {
    await request(dir, "ca", ["-subj", "/CN=test authority"]);
    const by = ["-CA", "ca.pem", "-CAkey", "ca.key"];
    await request(dir, "server", [
      ...by,
      "-subj",
      "/CN=server",
      "-addext",
      ["subjectAltName=IP:127.0.0.1,DNS:server.test", ...names.map((name) => `DNS:${name}`)].join(","),
    ]);
    await request(dir, "client", [...by, "-subj", "/CN=client"]);
    const read = async (name: string): Promise<Certificate> => ({
      cert: (await readFile(join(dir, `${name}.pem`))).toString(),
      key: (await readFile(join(dir, `${name}.key`))).toString(),
    });
    return { ca: await read("ca"), server: await read("server"), client: await read("client") };
  });
}

async function request(dir: string, name: string, more: readonly string[]): Promise<void> {
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", `${name}.key`];
  await run("openssl", ["req", "-x509", ...key, "-days", "2", "-out", `${name}.pem`, ...more], { cwd: dir });
}
